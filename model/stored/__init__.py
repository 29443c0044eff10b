"""Model folder on disk: config, vocabulary, weights and their fingerprint, in NumPy."""
