"""Parsers, offline: words of sentences in, trees with the columns of CoNLL-U out."""
