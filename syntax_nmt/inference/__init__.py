"""A trained model: loading, beam search, forced decoding, and extraction of structures."""
