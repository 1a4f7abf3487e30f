"""Dependency trees out of files, their reference, and their score; without a model."""
