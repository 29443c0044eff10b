"""``python -m training documents``: the tables of measured numbers in README, model card and studies, written
from data files.
"""
