"""What a pass through a network left behind, how it is selected, and what a pass may be asked to change.

Needs NumPy alone; imports no other room, and every other room may import it.
"""
