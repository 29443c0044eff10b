"""Copy test ``python -m training intact``: figures, names, addresses kept by a correction."""
