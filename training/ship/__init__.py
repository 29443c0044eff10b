"""``python -m training ship``: makes everything that depends on a model's weights anew, in one command that
can be continued.
"""
