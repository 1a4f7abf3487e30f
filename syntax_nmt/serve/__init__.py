"""A local web page: translations and their syntax, updated during typing."""
