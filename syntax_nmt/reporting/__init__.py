"""Output of commands: text, tables and JSON."""
