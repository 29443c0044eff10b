"""Korean text: jamo, keyboard, pronunciation, tokens, sentences, changes, protected text.

Needs NumPy and RapidFuzz alone; imports no other room.
"""
