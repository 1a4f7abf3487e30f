"""Word alignments out of cross-attention, symmetrisation, and their score."""
