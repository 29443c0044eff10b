"""A model on disk: the numbers of its ``config.json``, its files, their fingerprint. Needs NumPy alone."""
