"""Sentences with slots and with a place for one mistake.

``<사람>[은/는] 감기가 다 {나았다|낳았다}.`` has a slot, a particle that agrees with the word before it, and a place with
the right form first. ``{맞는 말}`` would be a place without a mistake.
"""

import random
import re
from collections.abc import Mapping, Sequence
from functools import cache

from model.text.particles import particle

_PARTS = re.compile(r"<([^>]+)>|\{([^}]*)\}|\[([^/\]]+/[^\]]+)\]|([^<{\[]+)")


class Template:
    """One sentence with slots."""

    def __init__(self, text: str):
        self.text = text
        matches = _PARTS.finditer(text)
        self.parts = [(found.lastindex or 0, found[found.lastindex or 0]) for found in matches]
        self.places = [i for i, (kind, value) in enumerate(self.parts) if kind == 2 and "|" in value]

    def fill(self, slots: Mapping[str, Sequence[str]], rng: random.Random) -> tuple[str, str]:
        """(wrong, right), with one of its places wrong; twice the same if it has no place for a mistake."""
        mistaken = rng.choice(self.places) if self.places else None
        right = wrong = ""
        for index, (kind, value) in enumerate(self.parts):
            one = other = value
            if kind == 1:
                one = other = rng.choice(slots[value])
            elif kind == 2:
                one, *others = value.split("|")
                other = rng.choice(others) if index == mistaken else one
            elif kind == 3:
                one = other = _particle(value, right[-1])
            right += one
            wrong += other
        return wrong, right


@cache
def _particle(forms: str, last: str) -> str:
    return particle(forms, last)
