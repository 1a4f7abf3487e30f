"""Dependency trees from files, their reference, and their score, without a model."""
