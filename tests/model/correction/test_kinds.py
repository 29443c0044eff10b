"""Corrections of the shipped network: all of ``promised.txt``, ``kinds.txt`` by kind."""

from collections import Counter
from pathlib import Path

import pytest

from tests.examples import examples

# A section of kinds.txt says how many of its texts the shipped network answers rightly, at least.
PAIRS = list(examples(Path(__file__).with_name("kinds.txt")))


@pytest.mark.parametrize(
    ("section", "typed", "right"), list(examples(Path(__file__).with_name("promised.txt")))
)
def test_what_is_promised_is_corrected(shipped, section, typed, right):
    found = shipped.correct(typed)
    assert found.text == right
    if section == "norm":
        assert shipped.correct(right).text == right
        assert all(change.fix_probability and change.keep_probability for change in found.changes)


def test_each_kind_has_twenty_texts():
    assert min(Counter(kind for kind, *_ in PAIRS).values()) >= 20


def test_the_shipped_network_answers_most_texts_of_each_kind(shipped):
    found = shipped.correct_batch([source for _, source, _ in PAIRS])
    right = Counter(kind for (kind, _, wanted), one in zip(PAIRS, found, strict=True) if one.text == wanted)
    for kind in {kind for kind, *_ in PAIRS}:
        assert right[kind] >= int(kind.rpartition(": ")[2]), right
