"""Corrections of the texts of ``kinds.txt``, by kind."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from model import Corrector

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
KINDS = Path(__file__).with_name("kinds.txt")


def pairs() -> Iterator[tuple[str, str, str]]:
    """(kind, source, right text) of each line."""
    kind = ""
    for line in KINDS.read_text("utf-8").splitlines():
        if line.isascii() and line.startswith("["):
            kind = line.strip("[]")
        elif line and not line.startswith("#"):
            source, _, right = line.partition(" → ")
            yield kind, source, right or source


def test_each_kind_has_twenty_texts():
    kinds = [kind for kind, *_ in pairs()]
    assert min(kinds.count(kind) for kind in kinds) >= 20


def test_the_shipped_network_answers_most_texts_of_each_kind():
    texts = list(pairs())
    found = Corrector.load().correct_batch([source for _, source, _ in texts])
    right = Counter(kind for (kind, _, wanted), one in zip(texts, found, strict=True) if one.text == wanted)
    assert right.keys() == LEAST.keys()
    assert all(right[kind] >= least for kind, least in LEAST.items()), right
