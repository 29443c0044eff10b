"""Copy test ``python -m training intact``: does a correction keep figures, names, addresses?"""
