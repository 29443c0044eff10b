"""Transformer forward pass in NumPy: named activations, interventions, decoding."""
