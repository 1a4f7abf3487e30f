"""Word alignments out of files, their symmetrisation, and their score; without a model."""
