"""The built-in corpus: a small synchronous grammar with gold structures."""
