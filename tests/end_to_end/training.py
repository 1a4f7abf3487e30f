"""What the end-to-end tests train."""

TRAINING = (
    *("--arch", "dependency_transformer_tiny", "--load-dependencies"),
    *("--criterion", "dependency_cross_entropy", "--label-smoothing", "0.1"),
    *("--share-all-embeddings", "--optimizer", "adam", "--lr", "3e-3"),
    *("--max-tokens", "2000", "--max-update", "12", "--no-epoch-checkpoints"),
    *("--log-format", "json", "--log-interval", "4"),
)
