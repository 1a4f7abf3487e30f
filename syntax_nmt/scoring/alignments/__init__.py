"""Word alignments from files: reading, symmetrisation and scoring, without a model."""
