"""Relation networks over the source (Zhang et al., 2018)."""
