"""Chunks of translations out of files, and their score; without a model."""
