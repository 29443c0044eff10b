"""The attention of a pass through a network, how it is selected, and interventions in a pass.

Needs NumPy alone; imports no other room, and every other room may import it.
"""
