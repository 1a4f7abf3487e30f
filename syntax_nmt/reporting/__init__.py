"""How commands report: where text goes, tables and JSON, and chunk F1, which two of them report."""
