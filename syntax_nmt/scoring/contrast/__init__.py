"""Contrastive pairs, and accuracies from scores, without a model."""
