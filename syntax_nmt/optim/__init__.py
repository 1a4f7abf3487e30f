"""Optimizers, by the names that fairseq's command line knows."""
