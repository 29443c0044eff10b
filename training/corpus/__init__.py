"""Sentences and pairs as they are read from files: which are left out, held back, or read more seldom."""
