"""What is counted over a binarised text and its annotation files."""
