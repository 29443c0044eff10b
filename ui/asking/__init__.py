"""Requests of pages to the engine: questions, model choice, loading bar, uploaded files."""
