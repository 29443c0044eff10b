"""Release pipeline ``python -m training ship``: rebuild all files that depend on weights.

A stopped run can be continued.
"""
