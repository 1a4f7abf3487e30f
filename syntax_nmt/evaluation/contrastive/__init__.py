"""Contrastive pairs: which of two translations a model prefers."""
