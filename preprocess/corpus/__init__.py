"""The steps from raw parallel text to a data-bin folder."""
