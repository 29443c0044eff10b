"""Finds the Hangul words of a text, and knows how often each occurs in the training sentences.

``words.txt.gz`` in a model folder holds a word and its count a line. It is text, so that anybody can read it.
"""

import gzip
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from model.correction.word_table import WordTable

LARGEST = 32_000_000  # bytes of text that are read; the shipped table has a tenth
_WORD = re.compile("[가-힣]+")  # a run of whole syllables; digits, Latin letters and single jamo end it


def find_words(text: str) -> Iterator[tuple[int, str]]:
    """(where it begins, the word) for each word of Hangul, particles and endings included."""
    return ((match.start(), match[0]) for match in _WORD.finditer(text))


def touching(text: str, start: int, end: int) -> list[str]:
    """The words that hold a character of ``text[start:end]``, or that begin or end at its edges."""
    while start and _WORD.match(text[start - 1]):  # to where the word begins that holds it
        start -= 1
    words = takewhile(lambda match: match.start() <= end, _WORD.finditer(text, start))
    return [match[0] for match in words]


class Known(NamedTuple):
    """How well some words are known. Each measure is that of the least known word."""

    whole: float  # log(1 + how often the word stands in the training sentences)
    beginning: float  # the share of the word that its longest known beginning covers, 1 for a known word
    beginning_count: float  # log(1 + how often that beginning stands there as a word)


class Words:
    """How often each word stands in the training sentences; 0 for all that are not in the table."""

    def __init__(self, counts: Mapping[str, int]):
        self.counts = counts

    @classmethod
    def count(cls, sentences: Iterable[str], least: int = 2) -> "Words":
        """Count the words; those that stand there fewer than ``least`` times are left out."""
        counts = Counter(word for text in sentences for _, word in find_words(text))
        return cls({word: count for word, count in counts.items() if count >= least})

    @classmethod
    def read(cls, path: Path) -> "Words":
        """Raises OSError or ValueError for what is no such table."""
        try:
            with gzip.open(path) as file:
                text = file.read(LARGEST + 1)
        except (EOFError, zlib.error) as error:
            raise ValueError(f"not gzip: {error}") from error
        if len(text) > LARGEST:
            raise ValueError(f"more than {LARGEST} bytes of text")
        return cls(WordTable(text.decode()))

    def to_bytes(self) -> bytes:
        """The table as ``read`` takes it; the same bytes for the same counts."""
        text = "".join(f"{word} {count}\n" for word, count in sorted(self.counts.items()))
        return gzip.compress(text.encode(), mtime=0)

    def known(self, words: Iterable[str]) -> Known:
        """How well all of the words are known; 0 in every measure where there is no word."""
        measures = list(map(self._known, words))
        return Known(*map(min, zip(*measures, strict=True))) if measures else Known(0.0, 0.0, 0.0)

    def _known(self, word: str) -> Known:
        for length in range(len(word), 0, -1):
            if count := self.counts.get(word[:length], 0):
                whole = count if length == len(word) else 0
                return Known(math.log1p(whole), length / len(word), math.log1p(count))
        return Known(0.0, 0.0, 0.0)
