"""Contrastive pairs, and how often models prefer the right one; without a model."""
