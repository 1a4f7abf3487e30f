"""Experiments as a workflow: one YAML a table, records of runs, tables made of the records."""
