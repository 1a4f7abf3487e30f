"""A trained model: loaded, searched, forced to translations, and asked for its structures."""
