"""Biases of positions alone: baselines for what knows the sentence."""
