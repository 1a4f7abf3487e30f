"""Scores files of translations, alignments, trees, chunks and contrastive pairs, without torch."""
