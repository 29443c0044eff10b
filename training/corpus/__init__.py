"""Reads sentences and pairs from files, and decides which are left out, held back for measuring, or read less
often.
"""
