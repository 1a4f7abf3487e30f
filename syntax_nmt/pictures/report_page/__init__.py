"""One HTML page about one system or several: scores, training, samples and their structures."""
