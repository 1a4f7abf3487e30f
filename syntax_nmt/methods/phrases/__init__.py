"""Phrase representation and phrase attention (Xu et al., 2020)."""
