"""How commands report: where text goes, tables and JSON."""
