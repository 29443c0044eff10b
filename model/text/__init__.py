"""Korean text: jamo, tokens, sentences, where two versions of a text differ, and what no correction may touch.

Needs NumPy and RapidFuzz alone; imports no other room.
"""
