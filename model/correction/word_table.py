"""A table of words and numbers, kept as the text that its file holds.

A dictionary of the shipped words takes 30 MB and a tenth of a second to make, before the first sentence can be answered. A sentence
asks for some ten words, and each is found in the sorted text by halving.
"""

import re
from collections.abc import ItemsView, Iterator, Mapping

# Each part takes all it can and gives nothing back: with ordinary repetition the check takes four times as long.
_TABLE = re.compile(r"(?:[^ \n]++ [0-9]++\n)*+")


class WordTable(Mapping[str, int]):
    """The number of each word. Each line of ``text`` is a word, a space and its number; lines are sorted by code points.

    >>> WordTable("집 3\\n학교 9\\n")["학교"]
    9

    Raises ValueError for a text of another form. A text that is not sorted is taken, and words are missed in it.
    """

    def __init__(self, text: str):
        end = _TABLE.match(text).end()  # type: ignore[union-attr]  # it matches the empty text, too
        if end < len(text):
            raise ValueError(f"no word and number: {text[end : end + 20]!r}")
        self._text = text

    def __getitem__(self, word: str) -> int:
        text = self._text
        first, stop = 0, len(text)  # where lines begin between which the word would stand
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
