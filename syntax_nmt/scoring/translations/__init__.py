"""Scores of translations, by length as well, and tests between systems."""
