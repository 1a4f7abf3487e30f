"""Latent phrase structure induction (Harada and Watanabe, 2021)."""
