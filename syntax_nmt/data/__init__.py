"""Annotation: reading, checking, words to subwords, binarised datasets, the batch."""
