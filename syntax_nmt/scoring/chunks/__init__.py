"""Chunks of translations from files, and their scores, without a model."""
