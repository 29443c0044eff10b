"""The one walk through a Transformer in NumPy: its named activations are read or replaced."""
