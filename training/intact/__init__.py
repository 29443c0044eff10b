"""Measures whether a correction leaves digits, addresses, emoji, names and the like as they are (``python -m
training intact``).
"""
