"""Misspellings of the norm's tables, proposed where the network missed them.

The network writes one character after the other, and a candidate exchanges one of them (``candidates``). So a
misspelling of several characters (또아리 for 똬리) may have no right candidate, and a loan word that people
often misspell (디렉토리) may look right. A wrong spelling of the tables becomes a candidate if no word of the
training sentences begins with it; the network rates it in a pass over the mended text, and a spelling that
it finds impossible there stays.

In 120,000 training sentences, which are right but for what their writers missed, it changes 128 places that
the network leaves; 10 of these are right as they stand, names and rare words such as 소연.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from model.correction.proposing import meet, offered_in_dialect
from model.correction.words import Words, find_words
from model.norm import misspellings
from model.norm.kinds import Misspelling, kinds
from model.text.changes import Change, find_changes
from model.text.readings import fitting, reading

CONFIDENCE = 0.95
# The least probability, by the network, of the right spelling; a word of three syllables or more whose right
# spelling is known is seldom another word.
LEAST_PROBABILITY, LEAST_OF_LONG = 0.3, 0.02
LONG = 3
PARTICLE = re.compile(r"(?:으로|로|[은는이가을를와과])(?=(?:[는도만의써서]|부터|까지)?(?![0-9A-Za-z가-힣]))")


class KnownMistake(NamedTuple):
    """The changes of ``text`` that mend one misspelling, and the least probability that they need."""

    changes: tuple[Change, ...]
    least: float

    @property
    def is_certain(self) -> bool:
        """Whether it needs no probability, so that it is made instead of another change, too."""
        return self.least == 0

    def meets(self, others: Iterable[Change]) -> bool:
        """Whether one of its changes touches one of the ``others``."""
        return any(meet(change, other) for change in self.changes for other in others)

    def is_settled(self, made: Sequence[Change]) -> bool:
        """Whether the changes that are ``made`` mend it, or, unless it is certain, mend something there."""
        places = {(each.source_start, each.source_end, each.right) for each in made}
        mine = {(each.source_start, each.source_end, each.right) for each in self.changes}
        return mine <= places or (not self.is_certain and self.meets(made))

    def proposed(self, text: str, rate: Callable[[Change], Change]) -> tuple[Change, ...]:
        """Its changes of ``text`` with their probabilities, by ``rate``, and their confidence; none if the
        network finds them impossible. A dialect form in quotes is offered.
        """
        rated = tuple(map(rate, self.changes))
        if math.prod(each.fix_probability or 0.0 for each in rated) < self.least:
            return ()
        return tuple(
            offered_in_dialect(replace(each, known_confidence=CONFIDENCE, instead_of=each.wrong), text)
            for each in rated
        )


def find_known_mistakes(text: str, words: Words) -> list[KnownMistake]:
    """The misspellings of ``text`` that are certain, or that no word of the training sentences begins with.

    They are in order and apart from each other; of rows for the same place the longest counts. Short
    beginnings of predicates are left out: 마나, for 많아, begins other words.

    >>> (found,) = find_known_mistakes("뱃지를 달았다.", Words({"배지": 9}))
    >>> [(change.wrong, change.right) for change in found.changes], found.least
    ([('뱃', '배')], 0.3)
    """
    found: list[KnownMistake] = []
    done = 0
    for start, row in sorted(misspellings(text), key=lambda site: (site[0], -len(site[1].wrong))):
        end = start + len(row.wrong)
        if start >= done and (_is_certain(row) or _is_seldom_right(text, start, row, words)):
            done = end
            found.append(_mistake(text, start, row, words))
    return found


def _is_certain(row: Misspelling) -> bool:
    return kinds()[row.name].is_certain


def _is_seldom_right(text: str, start: int, row: Misspelling, words: Words) -> bool:
    is_word = max(len(row.wrong), len(row.right)) >= LONG or row.boundary in ("noun", "both")
    return is_word and not _is_known(text, start, start + len(row.wrong), words)


def _mistake(text: str, start: int, row: Misspelling, words: Words) -> KnownMistake:
    stop = start + len(row.right)
    before, after = text[:start] + row.right, text[start + len(row.wrong) :]
    is_long = len(row.wrong) >= LONG and _is_known(before + after, start, stop, words)
    if particle := PARTICLE.match(after):  # 케잌을, 케이크를
        form = particle[0]
        if fitting(form, reading(text[: start + len(row.wrong)])) == form:
            after = fitting(form, reading(before)) + after[len(form) :]
    least = 0.0 if _is_certain(row) else LEAST_OF_LONG if is_long else LEAST_PROBABILITY
    return KnownMistake(find_changes(text, before + after), least)


def _is_known(text: str, start: int, end: int, words: Words) -> bool:
    """Whether each word in ``text[start:end]`` begins with a counted word that covers its part of that."""
    return all(
        any(words.counts.get(word[:length]) for length in range(min(last, end) - first, len(word) + 1))
        for first, word in find_words(text)
        if first < end and start < (last := first + len(word))
    )
