"""Corrections of the shipped network: those of ``kinds.txt`` by kind, and each of ``promised.txt``."""

from collections import Counter
from pathlib import Path

import pytest

from tests.examples import examples

# Right answers of the shipped network by kind, at least. *words*: rare words that are like commoner ones;

LEAST = {
    "placeholders": 22,
    "letters": 22,
    "endings": 22,
    "dialect": 22,
    "names": 23,
    "misspelt": 24,
    "particles": 32,
    "detached": 23,
    "missed": 43,
    "past": 26,
    "words": 27,
    "copula": 22,
    "school": 96,
    "quoted": 28,
    "counted": 29,
    "right": 86,
    "figures": 45,
    "negated": 48,
    "verbs apart": 43,
    "nouns apart": 38,
    "contracted": 46,
    "without i": 44,
    "eye": 43,
    "stems": 35,
    "irregular": 40,
    "places": 25,
    "sweet": 22,
    "goal": 42,
    "hours": 21,
    "at the time": 23,
    "become": 22,
    "behind neun": 22,
    "as one goes": 22,
    "noun without": 23,
    "among": 23,
    "one by one": 20,
    "loan joined": 20,
    "in doing": 23,
    "by sense": 24,
    "send or stick": 23,
}
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
    assert right.keys() == LEAST.keys()
    assert all(right[kind] >= least for kind, least in LEAST.items()), right
