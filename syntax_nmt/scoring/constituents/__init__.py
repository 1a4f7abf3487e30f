"""Constituency trees out of files, their brackets, and their score; without a model."""
