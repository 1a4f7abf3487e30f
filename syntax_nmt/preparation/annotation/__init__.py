"""Annotation of a text of any size, piece by piece, on any number of processes."""
