"""Dependency-supervised self-attention heads (Wang et al., 2019)."""
