"""The model families; each method is an extension switched on by options."""
