"""Annotation of a text of any size, in parts, on any number of processes."""
