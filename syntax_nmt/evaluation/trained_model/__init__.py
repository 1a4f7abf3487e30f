"""A trained model of any architecture, and the text that it is asked about."""
