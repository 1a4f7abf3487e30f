"""What a data-bin folder holds: figures, checks and samples (`syntax-nmt inspect`)."""
