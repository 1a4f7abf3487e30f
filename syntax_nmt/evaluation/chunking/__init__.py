"""Chunks of translations, and their score."""
