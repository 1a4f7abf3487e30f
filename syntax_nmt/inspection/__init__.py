"""Reports on a data-bin folder: figures, checks and samples (`syntax-nmt inspect`)."""
