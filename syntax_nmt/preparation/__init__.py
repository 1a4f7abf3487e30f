"""Turns raw parallel text into a data-bin folder with annotation."""
