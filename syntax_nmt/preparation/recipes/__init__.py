"""What the dataset recipes (`preprocess/*.sh`) do in Python: markup, joining, cleaning."""
