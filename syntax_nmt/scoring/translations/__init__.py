"""Scores of translations, also by length, and tests between systems."""
