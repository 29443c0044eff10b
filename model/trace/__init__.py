"""``AttentionTrace``, selections of its maps, and interventions as plain data.

Needs NumPy alone; imports no other room, and every other room may import it.
"""
