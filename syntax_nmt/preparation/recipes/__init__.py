"""What the dataset recipes do in Python: markup, joining, cleaning."""
