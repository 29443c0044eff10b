"""From your network to a trace: one file for each library.

A library is imported when a network of it is traced, so importing this package takes no time.
"""
