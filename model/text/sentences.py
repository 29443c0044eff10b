"""Cuts a text into sentences and the white space between them. Nothing is lost.

A long sentence is cut into parts at spaces, because the network knows no more than ``max_length`` positions. What it writes for
sentences four times as long as those it was trained on is nonsense.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import NamedTuple

# A sentence ends after . ! ? … (and closing quotes or brackets) where white space follows, and at
# line breaks. "3.14" and "e.g" have no white space inside, so they stay whole. Each run of white space
# is tried from its beginning only (the lookbehind): else a long one would take quadratic time.
_BOUNDARY = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’)\]」』》]))\s+|(?<!\s)\s*[\n\r\u2028\u2029]\s*")

_LINE_END = re.compile(r"[\n\r\u2028\u2029]")
_SPACE = re.compile(r"\s+")
_BEGINNING = 32  # characters that are compared first, to save time: most parts of a long text differ there
LEAST_JOINED = 2  # characters of a unit that is repeated without spaces
LEAST_REPETITIONS = 2  # of what white space sets apart
LEAST_REPETITIONS_JOINED = 3


class Span(NamedTuple):
    start: int
    end: int


def clipped(spans: Iterable[Span], start: int, end: int) -> tuple[Span, ...]:
    """What of some spans of a text lies between ``start`` and ``end``, counted from ``start``.

    >>> clipped([Span(0, 3), Span(5, 9)], 2, 6)
    (Span(start=0, end=1), Span(start=3, end=4))
    """
    return tuple(Span(max(a, start) - start, min(b, end) - start) for a, b in spans if a < end and b > start)


def split_sentences(text: str, longest: int | None = None) -> list[Span]:
    """Where the sentences of a text stand, in order. Between them lies white space, and in a repetition the mark that the last one
    lacks (좋아! 좋아! 좋아).

    A text that says the same again and again is cut there: 할 수 있다 할 수 있다. A network that reads it as one loses count. Texts of
    several sentences are looked at first, then each sentence.
    A sentence of more than ``longest`` characters is cut at white space into parts of about equal length. Only text without white
    space stays longer.

    >>> split_sentences("안녕. 잘 가!")
    [Span(start=0, end=3), Span(start=4, end=8)]
    """
    whole = Span(len(text) - len(text.lstrip()), len(text.rstrip()))
    sentences = [
        part
        for repeated in _repetitions(text, *whole)
        for sentence in _sentences(text, *repeated)
        for part in _repetitions(text, *sentence)
    ]
    if longest is None:
        return sentences
    return [part for sentence in sentences for part in _parts(text, *sentence, longest)]


def _repetitions(text: str, start: int, end: int) -> Iterator[Span]:
    """The repetitions of which a part of a text consists; the part itself if it repeats nothing."""
    said = text[start:end]
    gaps = [gap.end() for gap in _SPACE.finditer(said)]
    # Without spaces (사랑해사랑해사랑해) the repeated unit may have any length. One repeated letter (하하하) is a sound and stays whole.
    least = LEAST_REPETITIONS if gaps else LEAST_REPETITIONS_JOINED
    for period in gaps or range(LEAST_JOINED, len(said) if len(set(said)) > 1 else 0):
        if period * (least - 1) >= len(said):
            break
        # The last repetition may lack the mark of the others (좋아, 좋아, 좋아). Then no repetition contains its mark.
        length = (len(said) - 1) % period + 1
        repeats = said.startswith(said[period : period + _BEGINNING]) and said.startswith(said[period:])
        if repeats and not any(map(str.isalnum, said[length:period])):
            yield from (Span(first, first + length) for first in range(start, end, period))
            return
    if start < end:
        yield Span(start, end)


def _parts(text: str, start: int, end: int, longest: int) -> Iterator[Span]:
    """Parts of about equal length, cut at white space; none has more than ``longest`` characters if there is enough white space."""
    gaps = [Span(start + gap.start(), start + gap.end()) for gap in _SPACE.finditer(text[start:end])]
    while end - start > longest:
        first, last = (bisect_right(gaps, place, key=itemgetter(0)) for place in (start, start + longest))
        if first == len(gaps):
            break
        even = start + (end - start) / math.ceil((end - start) / longest)
        near = gaps[first:last] or gaps[first : first + 1]
        cut = min(near, key=lambda gap: abs(gap.start - even))
        yield Span(start, cut.start)
        start = cut.end
    yield Span(start, end)


def _sentences(text: str, start: int, end: int) -> list[Span]:
    spans: list[Span] = []
    for boundary in _BOUNDARY.finditer(text, start, end):
        if boundary.start() > start:
            _add(spans, text, Span(start, boundary.start()))
        start = boundary.end()
    if start < end:
        _add(spans, text, Span(start, end))
    return spans


def _add(spans: list[Span], text: str, found: Span) -> None:
    """Append ``found``; an emoji or other signs without a letter belong to the sentence before them on their line."""
    signs_alone = not any(map(str.isalnum, text[found.start : found.end]))
    if spans and signs_alone and not _LINE_END.search(text, spans[-1].end, found.start):
        spans[-1] = Span(spans[-1].start, found.end)
    else:
        spans.append(found)
