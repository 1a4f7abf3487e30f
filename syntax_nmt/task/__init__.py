"""The fairseq task of all methods."""
