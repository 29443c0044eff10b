"""What stands twice in a text is corrected twice, or not at all.

The network reads a word again with other text before it, and may be surer of it there. Nobody understands a text in which 그랬담 is
corrected once and left once. So a change is as sure as at the least sure of the places where the same words stand.
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
    said: str  # without the marks around it
    start: int  # in the whole text
    end: int


class _Place(NamedTuple):
    """Where a change stands: the word before, the words that it touches, and how far behind their beginning."""

    said: tuple[str, ...]
    offset: int
    wrong: str
    right: str


def agreeing(
    source: str, spans: Sequence[Span], proposed: Sequence[tuple[Change, ...]]
) -> list[tuple[Change, ...]]:
    """The changes that are ``proposed`` for each sentence of ``source``, which stands at its span. A change whose words stand there
    more than once, each time behind the same word, has the lowest confidence of all these places; 0 where it is not proposed.

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
    """How often these words stand in the text, one behind the other."""
    fewest = min(pairs[pair] for pair in pairwise(said))
    if fewest < 2 or len(said) == 2:
        return fewest
    lines = [(_BEGINNING, *(word.said for word in words)) for words in sentences]
    return sum(
        line[first : first + len(said)] == said
        for line in lines
        for first in range(len(line) - len(said) + 1)
    )
