"""Trained models for other engines: those that are a stock Transformer at inference."""
