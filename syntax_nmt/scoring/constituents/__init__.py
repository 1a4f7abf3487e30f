"""Constituency trees from files, their brackets, and their scores, without a model."""
