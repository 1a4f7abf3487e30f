"""Training objectives: the translation loss and the auxiliary losses of the methods."""
