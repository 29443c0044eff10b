"""Everything about the network that needs no network library.

``positions`` is the positional encoding, ``drafting`` the fast search, ``alterations`` turns interventions into arrays, and
``patched`` is a whole Transformer in NumPy, whose passes take patches.
"""
