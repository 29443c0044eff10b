"""Noun replacement (data augmentation): right sentences with other nouns in them.

So a network meets more words than the corpora have: one that has read 포장 often and 파종 never takes 파종
for a slip. A noun is replaced by another of its kind (``nouns.txt``), and the particle after it gets the
right form (``model.text.hangul``). The sentence may make little sense, but its grammar and spelling stay
right.

``nouns.txt`` was made of the 117,000 nouns of Kiwi (Lee 2024), which knows their frequency, and how similarly
two words are used. A frequent noun shares a line with those that are used most like it (책상 beside 의자,
부산 beside 대구). Kiwi knows too little about the rarer ones. Since a Korean compound is named by its end,
those share a line with nouns of the same last syllable and length (개척지 beside 거주지); rare nouns of two
syllables are all in one. Left out are the rarest nouns, dialect, and forms that look like a misspelling of a
commoner noun (버쓰 beside 버스); nouns that Kiwi does not read as nouns before each of the usual particles
(가지는 may be a verb); and nouns that are more grammar than thing (경우, 정도).
"""

import random
import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from model.text.hangul import particle
from training.noise import read_lines, words_of

MOST_REPLACED = 2  # nouns of one sentence
RARE_SHARE = 0.4  # of the new nouns are rare ones of the same ending, if it has any
ATTEMPTS = 4  # draws of a noun, until one does not look like a slip in the old noun

_LISTS = words_of("lexicon")
_AFTER_TWO = {"과/와": "는 도 의", "으로/로": "는 도 만 부터 서 써"}  # parts that may follow these
# A particle -> its two forms, "after a consonant/after a vowel".
_FORMS = {form: form for form in _LISTS["alike"]}
for _pair in _LISTS["by_sound"]:
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

    def put(self, text: str, noun: str) -> str:
        """The text with another noun here, and the particle in the shape that follows it.

        >>> NounPlace(0, "연필", "을").put("연필을 샀다.", "지우개")
        '지우개를 샀다.'
        """
        end = self.start + len(self.noun) + len(self.particle)
        return text[: self.start] + noun + _agree(self.particle, noun) + text[end:]

    @property
    def either_shape(self) -> str:
        """The particle as it follows a word that is not known yet.

        >>> NounPlace(0, "연필", "을").either_shape, NounPlace(0, "집", "에서").either_shape
        ('을(를)', '에서')
        """
        one, _, other = _FORMS[self.particle].partition("/")
        if not other:
            return one
        return f"({one[0]}){other}" if one.endswith(other) else f"{one}({other})"


class Lexicon:
    """Nouns by kind, from lines: ``=`` and nouns used alike, or ``~`` and rare nouns of one ending.

    >>> Lexicon(["= 연필 지우개"]).vary("연필을 샀다.", random.Random(0))
    '지우개를 샀다.'
    """

    def __init__(self, lines: Iterable[str]):
        self.kinds: dict[str, list[str]] = {}  # noun -> nouns of its kind, itself among them
        self.rare: dict[tuple[str, int], list[str]] = {}  # by ``ending_of``
        for line in lines:
            mark, *nouns = line.split(" ")
            self.kinds |= dict.fromkeys(nouns, nouns)
            if mark == "~":
                self.rare[_ending_of(nouns[0])] = nouns

    def places(self, text: str) -> list[NounPlace]:
        """The nouns of the list in a text, with a particle of the right form.

        >>> Lexicon(["= 연필 지우개"]).places("연필을 샀다.")
        [NounPlace(start=0, noun='연필', particle='을')]
        """
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
        for place in sorted(chosen, reverse=True):
            text = place.put(text, self._other(place.noun, rng))
        return text

    def _other(self, noun: str, rng: random.Random) -> str:
        for _ in range(ATTEMPTS):
            rare = self.rare.get(_ending_of(noun)) if rng.random() < RARE_SHARE else None
            other = rng.choice(rare or self.kinds[noun])
            if _unlike(other, noun):
                return other
        return noun


@cache
def lexicon() -> Lexicon:
    """The nouns of ``nouns.txt``, read once."""
    return Lexicon(read_lines("nouns.txt"))


def _ending_of(noun: str) -> tuple[str, int]:
    """The key of a line of rare nouns: last syllable and length; of two syllables the length alone."""
    return noun[-1] if len(noun) > 2 else "", len(noun)


def _unlike(noun: str, other: str) -> bool:
    """Whether the nouns differ in two syllables.

    With 풍우 for 경우 the network would learn that slips in a frequent noun are meant.
    """
    return len(noun) != len(other) or sum(a != b for a, b in zip(noun, other, strict=True)) > 1


def _agree(ending: str, noun: str) -> str:
    forms = _FORMS[ending]
    return particle(forms, noun) if "/" in forms else forms
