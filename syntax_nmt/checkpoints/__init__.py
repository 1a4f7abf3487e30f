"""Checkpoints of fairseq: nothing but data is taken from them, and only from whole ones."""
