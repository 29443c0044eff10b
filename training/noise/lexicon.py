"""Replaces nouns in right sentences, so that a network meets more words than the corpora have.

A network that has read 포장 often and 파종 never takes 파종 for a slip. So a noun is replaced by another of its kind (``nouns.txt``, made
by ``noun_list``), and the particle after it gets the right form (``model.text.particles``). The sentence may make little sense, but its
grammar and spelling stay right.
"""

import random
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from model.text.particles import particle

MOST_REPLACED = 2  # nouns of one sentence
RARE_SHARE = 0.4  # of the new nouns are rare ones of the same ending, where there are any
ATTEMPTS = 4  # draws of a noun, until one does not look like a slip in the old noun

_BY_SOUND = (
    "은/는 이/가 을/를 과/와 으로/로 이라는/라는 이라고/라고 이라도/라도 이었다/였다 이에요/예요".split()
)
_AFTER_TWO = {"과/와": "는 도 의", "으로/로": "는 도 만 부터 서 써"}  # what may follow these
_ALIKE = "의 에 에서 에게 에는 에도 에서는 에서도 에게는 에게서 까지 까지는 부터 처럼 보다 보다는 만 만을 만이 도 마다 조차 밖에 입니다 입니까".split()
# A particle -> its two forms, "after a consonant/after a vowel".
_FORMS = {form: form for form in _ALIKE}
for _pair in _BY_SOUND:
    for _more in ("", *_AFTER_TWO.get(_pair, "").split()):
        _forms = "/".join(form + _more for form in _pair.split("/"))
        _FORMS |= dict.fromkeys(_forms.split("/"), _forms)
_WORD = re.compile(
    rf"(?<![가-힣\w])([가-힣]{{2,6}}?)({'|'.join(sorted(_FORMS, key=len, reverse=True))})(?![가-힣\w])"
)


class NounPlace(NamedTuple):
    """A noun in a text with its particle."""

    start: int
    noun: str
    particle: str


@cache
def noun_lines() -> tuple[str, ...]:
    """The lines of ``nouns.txt``: ``=`` and nouns used alike, or ``~`` and rare nouns of one ending."""
    return tuple(files("training.noise").joinpath("nouns.txt").read_text("utf-8").splitlines())


class Lexicon:
    """Nouns by kind.

    >>> Lexicon(["= 연필 지우개"]).vary("연필을 샀다.", random.Random(0))
    '지우개를 샀다.'
    """

    def __init__(self, lines: Iterable[str] | None = None):
        self.kinds: dict[str, list[str]] = {}  # noun -> nouns of its kind, itself among them
        self.rare: dict[tuple[str, int], list[str]] = {}  # by ``ending_of``
        for line in noun_lines() if lines is None else lines:
            mark, *nouns = line.split(" ")
            self.kinds |= dict.fromkeys(nouns, nouns)
            if mark == "~":
                self.rare[ending_of(nouns[0])] = nouns

    def places(self, text: str) -> list[NounPlace]:
        """The nouns of the list that stand in a text with a particle of the right form."""
        found = []
        for match in _WORD.finditer(text):
            noun, ending = match.groups()
            if noun in self.kinds and _agree(ending, noun) == ending:
                found.append(NounPlace(match.start(), noun, ending))
        return found

    def vary(self, text: str, rng: random.Random) -> str:
        """The text with one or two other nouns; as it is where none of its nouns is known."""
        places = self.places(text)
        chosen = rng.sample(places, min(len(places), rng.randint(1, MOST_REPLACED)))
        for start, noun, ending in sorted(chosen, reverse=True):
            other = self._other(noun, rng)
            end = start + len(noun) + len(ending)
            text = text[:start] + other + _agree(ending, other) + text[end:]
        return text

    def _other(self, noun: str, rng: random.Random) -> str:
        for _ in range(ATTEMPTS):
            rare = self.rare.get(ending_of(noun)) if rng.random() < RARE_SHARE else None
            other = rng.choice(rare or self.kinds[noun])
            if _unlike(other, noun):
                return other
        return noun


def ending_of(noun: str) -> tuple[str, int]:
    """By which rare nouns stand together: last syllable and length; of two syllables the length alone."""
    return noun[-1] if len(noun) > 2 else "", len(noun)


def _unlike(noun: str, other: str) -> bool:
    """Whether the nouns differ in two syllables. With 풍우 for 경우 the network would learn that slips in a frequent noun are meant."""
    return len(noun) != len(other) or sum(a != b for a, b in zip(noun, other, strict=True)) > 1


def _agree(ending: str, noun: str) -> str:
    forms = _FORMS[ending]
    return particle(forms, noun) if "/" in forms else forms
