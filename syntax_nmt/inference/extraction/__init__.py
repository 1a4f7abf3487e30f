"""Extraction from trained models: trees, alignments, attention, chunks, probabilities."""
