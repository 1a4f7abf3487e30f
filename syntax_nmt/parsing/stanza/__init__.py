"""Stanza, offline: trees, chunks and words of its models."""
