"""Korean text: jamo, keyboard, tokens, sentences, changes, protected characters.

Needs NumPy and RapidFuzz alone; imports no other room.
"""
