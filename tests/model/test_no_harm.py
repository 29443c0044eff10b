"""Invariants of every correction by the shipped model, on 2,000 composed texts.

``python benchmarks/harm.py --texts 50000`` checks the same on more.
"""

from benchmarks.composed_texts import compose
from benchmarks.harm import check


def test_no_text_is_harmed(shipped):
    checked, violations = check(shipped, compose(seed=1, count=2000))
    assert len(checked) == 6, checked  # no word lost, no evidence against, spans, order, settled, repetitions
    assert min(checked.values()) > 150
    assert not violations
