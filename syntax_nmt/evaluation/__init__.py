"""Structures out of trained models, and figures about them."""
