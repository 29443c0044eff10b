"""Corrections of the texts of ``kinds.txt``, by kind."""

from collections.abc import Iterator
from pathlib import Path

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
