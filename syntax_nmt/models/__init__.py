"""The model families; each method is a feature switched on by options."""
