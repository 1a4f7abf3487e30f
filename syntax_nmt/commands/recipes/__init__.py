"""Commands of the dataset recipes (`preprocess/*.sh`)."""
