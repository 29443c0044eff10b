"""Corrections of the texts of ``kinds.txt``, by kind."""

from collections import Counter
from pathlib import Path

from model import Corrector
from tests.examples import examples

# Right answers of the shipped network by kind, at least. *words*: rare words that are like commoner ones.
LEAST = {
    "placeholders": 22,
    "letters": 22,
    "endings": 22,
    "dialect": 22,
    "names": 23,
    "misspelt": 21,
    "particles": 32,
    "detached": 23,
    "missed": 36,
    "past": 24,
    "words": 17,
}
PAIRS = list(examples(Path(__file__).with_name("kinds.txt")))


def test_each_kind_has_twenty_texts():
    assert min(Counter(kind for kind, *_ in PAIRS).values()) >= 20


def test_the_shipped_network_answers_most_texts_of_each_kind():
    found = Corrector.load().correct_batch([source for _, source, _ in PAIRS])
    right = Counter(kind for (kind, _, wanted), one in zip(PAIRS, found, strict=True) if one.text == wanted)
    assert right.keys() == LEAST.keys()
    assert all(right[kind] >= least for kind, least in LEAST.items()), right
