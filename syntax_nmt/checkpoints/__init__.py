"""Checkpoints of fairseq: only data is read from them, and only from complete files."""
