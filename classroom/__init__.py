"""Classrooms in memory: a teacher shows pages and asks questions, students answer on phones.

It needs Python's own library and NumPy alone, and has no page and no network code. The store of classrooms
lives in memory that all page processes reach: in the page process if it is the only one, else in the engine's
first worker.
"""
