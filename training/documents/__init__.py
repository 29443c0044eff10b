"""Command ``python -m training documents``: documents with measured numbers from data files."""
