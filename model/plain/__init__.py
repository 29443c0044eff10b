"""Everything about the network that needs no network library.

``positions`` is the positional encoding, ``drafting`` the fast search, ``alterations`` turns interventions into arrays, and
``transformer`` is the whole network once more in NumPy.
"""
