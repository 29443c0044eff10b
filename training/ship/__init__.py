"""``python -m training ship``: everything that hangs on a model's weights, made anew in one command that can be continued."""
