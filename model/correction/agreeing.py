"""Gives the same change of the same words one confidence in a whole text: it is made at all their places or at none.

Different text stands before each place, so the network may be surer at one place than at another. A reader would not understand a
text in which 그랬담 is corrected once and left once. So each of these places gets the lowest confidence among them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from model.text.changes import Change
from model.text.sentences import Span

_BEGINNING = ""  # stands for the word before the first one of a sentence


class _Word(NamedTuple):
    said: str  # its letters and digits, without punctuation
    start: int  # in the whole text
    end: int


class _Place(NamedTuple):
    """What two changes have in common if they count as the same change of the same words."""

    said: tuple[str, ...]  # the word before, then the words that the change touches
    offset: int  # from the beginning of the first touched word to the change, in characters
    wrong: str
    right: str


def agreeing(
    source: str, spans: Sequence[Span], proposed: Sequence[tuple[Change, ...]]
) -> list[tuple[Change, ...]]:
    """The changes that are ``proposed`` for each sentence of ``source``, with one confidence for the same change of the same words.

    ``spans`` say where the sentences stand. Words count as the same only behind the same word. Their change gets the lowest confidence
    that it has at any place where these words stand. If one of the places lacks the change, it gets 0.

    >>> change = Change(2, 3, 2, 3, "갓", "갔", known_confidence=0.9)
    >>> unsure = replace(change, known_confidence=0.3)
    >>> found = agreeing("집에 갓다. 집에 갓다.", [Span(0, 6), Span(7, 13)], [(change.moved(1, 1),), (unsure.moved(1, 1),)])
    >>> [each.confidence for (each,) in found]
    [0.3, 0.3]
    """
    if not any(proposed):
        return list(proposed)
    sentences = [list(_words(source, span)) for span in spans]
    said = Counter(pair for words in sentences for pair in _pairs(words))
    if max(said.values(), default=0) < 2:
        return list(proposed)
    places = [
        [_place(words, change.moved(span.start, 0)) for change in changes]
        for span, words, changes in zip(spans, sentences, proposed, strict=True)
    ]
    sure: dict[_Place, list[float]] = {}
    for mine, changes in zip(places, proposed, strict=True):
        for place, change in zip(mine, changes, strict=True):
            if place is not None and change.is_weighed:
                sure.setdefault(place, []).append(change.confidence)
    least = {
        place: min(found) if len(found) == count else 0.0
        for place, found in sure.items()
        if (count := _count(place.said, said, sentences)) > 1
    }
    return [
        tuple(
            replace(change, known_confidence=least[place]) if place in least and change.is_weighed else change
            for place, change in zip(mine, changes, strict=True)
        )
        for mine, changes in zip(places, proposed, strict=True)
    ]


def _words(source: str, span: Span) -> Iterator[_Word]:
    start = None
    for place in range(span.start, span.end + 1):
        if place < span.end and source[place].isalnum():
            start = place if start is None else start
        elif start is not None:
            yield _Word(source[start:place], start, place)
            start = None


def _pairs(words: Sequence[_Word]) -> Iterator[tuple[str, str]]:
    return pairwise((_BEGINNING, *(word.said for word in words)))


def _place(words: Sequence[_Word], change: Change) -> _Place | None:
    touched = [
        i
        for i, word in enumerate(words)
        if word.start <= change.source_end and change.source_start <= word.end
    ]
    if not touched:
        return None
    before = words[touched[0] - 1].said if touched[0] else _BEGINNING
    said = (before, *(words[i].said for i in touched))
    return _Place(said, change.source_start - words[touched[0]].start, change.wrong, change.right)


def _count(said: tuple[str, ...], pairs: Counter, sentences: Sequence[Sequence[_Word]]) -> int:
    """How often these words follow one another in the text."""
    # Words cannot follow one another more often than two of them do. For two words this is already the count.
    fewest = min(pairs[pair] for pair in pairwise(said))
    if fewest < 2 or len(said) == 2:
        return fewest
    lines = [(_BEGINNING, *(word.said for word in words)) for words in sentences]
    return sum(
        line[first : first + len(said)] == said
        for line in lines
        for first in range(len(line) - len(said) + 1)
    )
