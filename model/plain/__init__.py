"""The network without a network library: the positional encoding, the fast search over drafts, the arrays that an
intervention becomes, and the whole Transformer in NumPy.
"""
