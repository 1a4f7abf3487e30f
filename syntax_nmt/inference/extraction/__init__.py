"""Structures out of trained models: trees, alignments, attention, chunks, probabilities."""
