"""Cutting a text into sentences and the white space between them, losing nothing."""

import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

# A sentence ends after . ! ? … (and closing quotes or brackets) where white space follows, and at
# line breaks. "3.14" and "e.g" have no white space inside, so they stay whole. Each run of white space
# is tried from its beginning only (the lookbehind): else a long one would take quadratic time.
_BOUNDARY = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’)\]」』》]))\s+|(?<!\s)\s*[\n\r\u2028\u2029]\s*")

_SPACE = re.compile(r"\s+")


class Span(NamedTuple):
    start: int
    end: int


def split_sentences(text: str, longest: int | None = None) -> list[Span]:
    """Where the sentences of a text stand, in order; what lies between them is white space only.

    A sentence of more than ``longest`` characters is cut at white space into parts of about equal length;
    only what has no white space for so long stays longer.
    """
    sentences = _sentences(text)
    if longest is None:
        return sentences
    return [part for sentence in sentences for part in _parts(text, *sentence, longest)]


def _parts(text: str, start: int, end: int, longest: int) -> Iterator[Span]:
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


def _sentences(text: str) -> list[Span]:
    spans, start = [], len(text) - len(text.lstrip())
    end = len(text.rstrip())
    for boundary in _BOUNDARY.finditer(text, start, end):
        if boundary.start() > start:
            spans.append(Span(start, boundary.start()))
        start = boundary.end()
    if start < end:
        spans.append(Span(start, end))
    return spans
