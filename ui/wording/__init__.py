"""Texts, numbers, formulas and kinds of mistakes as people read them."""
