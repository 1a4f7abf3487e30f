"""Statistics of a binarised text and its annotation files."""
