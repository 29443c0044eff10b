"""Word frequencies: the Hangul words of a text, and their counts in the training sentences.

``words.txt.gz`` in a model folder holds a word and its count a line: text that can be read. As a dictionary
the shipped words would take 30 MB and a tenth of a second, before the first sentence is answered. A sentence
needs some ten words, and each is looked up in the sorted text by bisection.
"""

import gzip
import math
import re
import zlib
from collections import Counter
from collections.abc import ItemsView, Iterable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from model.text.changes import Change

# Each part takes all it can and gives nothing back: with ordinary repetition the check takes four times as
# long.
_TABLE = re.compile(r"(?:[^ \n]++ [0-9]++\n)*+")


class WordTable(Mapping[str, int]):
    """The number of each word.

    Each line of ``text`` is a word, a space and its number; lines are sorted by code points.

    >>> WordTable("집 3\\n학교 9\\n")["학교"]
    9

    Raises ValueError for a text of another form. A text that is not sorted is taken, and words are missed in
    it.
    """

    def __init__(self, text: str):
        end = _TABLE.match(text).end()  # type: ignore[union-attr]  # it matches the empty text, too
        if end < len(text):
            raise ValueError(f"no word and number: {text[end : end + 20]!r}")
        self._text = text

    def __getitem__(self, word: str) -> int:
        text = self._text
        first, stop = 0, len(text)  # where lines begin between which the word would be
        while first < stop:
            start = text.rfind("\n", first, (first + stop) // 2) + 1 or first
            gap = text.find(" ", start)
            found, end = text[start:gap], text.find("\n", gap)
            if found == word:
                return int(text[gap + 1 : end])
            if found < word:
                first = end + 1
            else:
                stop = start
        raise KeyError(word)

    def __iter__(self) -> Iterator[str]:
        return iter(self._text.split()[::2])

    def __len__(self) -> int:
        return self._text.count("\n")

    def items(self) -> ItemsView[str, int]:
        fields = iter(self._text.split())
        return dict(zip(fields, map(int, fields), strict=True)).items()


LARGEST = 32_000_000  # bytes of text that are read; the shipped table has a tenth
SHORT_AND_LONG = {
    ("였", "었"),
    ("여", "어"),
    ("예", "에"),
}  # behind 이, where it is a noun's; where it is the copula
_WORD = re.compile("[가-힣]+")  # a run of whole syllables; digits, Latin letters and single jamo end it


def find_words(text: str) -> Iterator[tuple[int, str]]:
    """(where it begins, the word) for each word of Hangul, particles and endings included.

    >>> list(find_words("밥을 3번 먹어요!"))
    [(0, '밥을'), (4, '번'), (6, '먹어요')]
    """
    return ((match.start(), match[0]) for match in _WORD.finditer(text))


def touching(text: str, start: int, end: int) -> list[str]:
    """The words that hold a character of ``text[start:end]``, or that begin or end at its edges.

    >>> touching("밥을 머거요", 3, 5)
    ['머거요']
    """
    while start and _WORD.match(text[start - 1]):  # to where the word begins that holds it
        start -= 1
    words = takewhile(lambda match: match.start() <= end, _WORD.finditer(text, start))
    return [match[0] for match in words]


class Known(NamedTuple):
    """How well some words are known. Each measure is that of the least known word."""

    whole: float  # log(1 + the count of the word in the training sentences)
    beginning: float  # the share of the word that its longest known beginning covers, 1 for a known word
    beginning_count: float  # log(1 + the count of that beginning as a word)


class Words:
    """The counts of words in the training sentences; 0 for all that are not in the table."""

    def __init__(self, counts: Mapping[str, int]):
        self.counts = counts

    @classmethod
    def count(cls, sentences: Iterable[str], least: int = 2) -> "Words":
        """Count the words; those that occur fewer than ``least`` times are left out."""
        counts = Counter(word for text in sentences for _, word in find_words(text))
        return cls({word: count for word, count in counts.items() if count >= least})

    @classmethod
    def read(cls, path: Path) -> "Words":
        """Read a table. Raises OSError or ValueError for another file."""
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
        """How well all of the words are known; 0 in every measure without a word."""
        measures = list(map(self._known, words))
        return Known(*map(min, zip(*measures, strict=True))) if measures else Known(0.0, 0.0, 0.0)

    def spares_nouns(self, change: Change, source: str) -> bool:
        """Whether a change of 였 to 었, or 여 to 어, or 예 to 에, is behind the copula 이 of a counted noun.

        Behind the 이 of a noun the short form is right: 사람이었다, but 호랑이였다. 이 behind a noun that was
        not counted may be its end (겁쟁이, 민준이).

        >>> words = Words({"사람은": 9, "호랑이를": 2})
        >>> [words.spares_nouns(Change(end, end + 1, end, end + 1, "였", "었"), text)
        ...  for end, text in ((3, "사람이였다"), (3, "호랑이였다"), (3, "겁쟁이였다"))]
        [True, False, False]
        """
        start = change.source_start
        if (change.wrong[:1], change.right[:1]) not in SHORT_AND_LONG or source[start - 1 : start] != "이":
            return True
        *_, noun = find_words(source[:start])
        if any(map(self.counts.get, (noun[1] + each for each in ("가", "는", "를")))):
            return False
        stems = (noun[1][i:-1] for i in range(len(noun[1]) - 1) if i == 0 or len(noun[1]) - i > 2)
        return any(self.counts.get(stem + each) for stem in stems for each in ("은", "을"))

    def _known(self, word: str) -> Known:
        for length in range(len(word), 0, -1):
            if count := self.counts.get(word[:length], 0):
                whole = count if length == len(word) else 0
                return Known(math.log1p(whole), length / len(word), math.log1p(count))
        return Known(0.0, 0.0, 0.0)
