"""``Annotated``: a document of prose and markup, with the place of each prose character.

A correction is computed for the prose alone; offsets are those of the document. LanguageTool's clients send
such documents, and the readers of files in ``service.files`` make them.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from model.text.tokenizer import normalise, typed_offsets


class Piece(NamedTuple):
    """``document[start:end]``, read as ``text``. Prose is read as it is; markup as something else, or not at
    all.
    """

    start: int
    end: int
    text: str


_LAYOUT = re.compile(r"[ \t]{2,}|(?:(?![ \t]{2}).)+", re.DOTALL)


def _without_layout(document: str, piece: Piece) -> Iterator[Piece]:
    """The parts of a piece; of prose, a run of spaces is a part of its own, which a correction leaves."""
    if "  " not in piece.text.replace("\t", " ") or document[piece.start : piece.end] != piece.text:
        yield piece
        return
    for match in _LAYOUT.finditer(piece.text):
        start, end = (piece.start + place for place in match.span())
        yield Piece(start, end, " " if re.match(r"[ \t]{2}", match[0]) else match[0])


@dataclass(frozen=True)
class Annotated:
    """The pieces of a document that belong to one text, in order. White space between them is markup, too.

    Example:
        >>> bold = Annotated("<b>조</b>아요", (Piece(3, 4, "조"), Piece(8, 10, "아요")))
        >>> bold.text, bold.place(0, 1)
        ('조아요', (3, 4))
    """

    document: str
    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, document: str, pieces: Iterable[Piece]) -> "Annotated":
        """The document with those pieces that are read as anything. Several spaces are layout, read as one.

        Example:
            >>> Annotated.of("밥을  먹자", [Piece(0, 6, "밥을  먹자")]).text
            '밥을 먹자'
        """
        parts = (part for piece in pieces for part in _without_layout(document, piece))
        return cls(document, tuple(part for part in parts if part.text))

    @classmethod
    def plain(cls, text: str) -> "Annotated":
        """A document without markup.

        Example:
            >>> Annotated.plain("밥").pieces
            (Piece(start=0, end=1, text='밥'),)
        """
        return cls.of(text, [Piece(0, len(text), text)])

    @cached_property
    def text(self) -> str:
        """The prose as a corrector reads it, in NFC."""
        return "".join(map(normalise, (piece.text for piece in self.pieces)))

    @cached_property
    def _starts(self) -> list[int]:
        """Where each piece begins in ``text``, and where the last one ends."""
        return list(accumulate((len(normalise(piece.text)) for piece in self.pieces), initial=0))

    def bounds(self, start: int, end: int) -> tuple[int, int] | None:
        """The bounds in ``text`` of the prose that holds ``text[start:end]``; None where markup is inside.

        An insertion between prose and markup is refused, too: it might belong on either side.
        """
        number = self._piece_of(start, end)
        first, last = self._starts[number : number + 2]
        piece = self.pieces[number]
        if end > last or self.document[piece.start : piece.end] != piece.text:
            return None
        at_border = start == end and (start == first > 0 or end == last < self._starts[-1])
        return None if at_border else (first, last)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The offsets in the document of ``text[start:end]``, which has ``bounds``."""
        number = self._piece_of(start, end)
        piece, typed = self.pieces[number], self._typed[number]
        first = self._starts[number]
        return piece.start + typed[start - first], piece.start + typed[end - first]

    @cached_property
    def _typed(self) -> list[Sequence[int]]:
        """For each piece the ``typed_offsets`` of its text."""
        return [typed_offsets(piece.text) for piece in self.pieces]

    def _piece_of(self, start: int, end: int) -> int:
        number = min(bisect_right(self._starts, start), len(self.pieces)) - 1
        # An insertion between two pieces belongs to the one before it.
        return number - 1 if number and self._starts[number] == start == end else number


def utf16_length(text: str) -> int:
    """The number of UTF-16 code units, in which editors and JavaScript count.

    Example:
        >>> utf16_length("가🙂")
        3
    """
    return len(text) + sum(character > "\uffff" for character in text)
