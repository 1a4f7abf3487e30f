"""Phrases and syntax in neural machine translation: a plugin suite for fairseq.

Importing the package (fairseq does so for `--user-dir`) registers its tasks, models and criterions.
"""
