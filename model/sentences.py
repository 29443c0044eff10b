"""Cutting a text into sentences and the white space between them, losing nothing."""

import re
from typing import NamedTuple

# A sentence ends after . ! ? … (and closing quotes or brackets) where white space follows, and at
# line breaks. "3.14" and "e.g" have no white space inside, so they stay whole. Each run of white space
# is tried from its beginning only (the lookbehind): else a long one would take quadratic time.
_BOUNDARY = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’)\]」』》]))\s+|(?<!\s)\s*[\n\r\u2028\u2029]\s*")


class Span(NamedTuple):
    start: int
    end: int


def split_sentences(text: str) -> list[Span]:
    """Where the sentences of a text stand, in order; what lies between them is white space only."""
    spans, start = [], len(text) - len(text.lstrip())
    end = len(text.rstrip())
    for boundary in _BOUNDARY.finditer(text, start, end):
        if boundary.start() > start:
            spans.append(Span(start, boundary.start()))
        start = boundary.end()
    if start < end:
        spans.append(Span(start, end))
    return spans
