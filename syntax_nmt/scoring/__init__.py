"""Files in, figures out: translations, alignments, trees, chunks, contrast; without torch."""
