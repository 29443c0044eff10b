"""Text to ids and back, one token per Unicode character, with the jamo features of each id.

The vocabulary holds the 2,350 syllables of KS X 1001, ASCII, jamo and frequent punctuation. The network sees a syllable as the sum
of its own vector and those of its initial, medial and final jamo; the rest of the 11,172 syllables it reads by their jamo alone.
A character outside the vocabulary (emoji, hanja, other scripts) is one token, ``<outside>``. Where the network writes
``<outside>``, ``Tokenizer.decode`` aligns both sentences and puts the character of the source there.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from rapidfuzz.distance import Levenshtein

from model.text import hangul

PAD, OUTSIDE, START, END = "<pad>", "<outside>", "<s>", "</s>"
SPECIAL_TOKENS = (PAD, OUTSIDE, START, END)
PAD_ID, OUTSIDE_ID, START_ID, END_ID = range(4)
VISIBLE_SPACE = "␣"

_HOLE = "\ufffc"  # OBJECT REPLACEMENT CHARACTER: what Unicode reserves for "something stands here"


class Tokenizer:
    """Ids of characters, for one vocabulary.

    ``0 <= id < vocab_size``: a special token or a character of the vocabulary; these the network
    can also produce. ``vocab_size <= id < vocab_size + 11172``: a Hangul syllable that is not in
    the vocabulary; these it can only read, through their jamo. Every other character is read as
    ``<outside>``. A produced ``<outside>`` means "the outside character of the source, verbatim".

    >>> tokenizer = Tokenizer("가나다 ")
    >>> tokenizer.decode(tokenizer.encode_target("가나"), "가나")
    '가나'
    """

    def __init__(self, characters: Iterable[str]):
        self.characters = tuple(characters)
        seen = set()
        for character in self.characters:
            if len(character) != 1 or character in seen or character == _HOLE:
                raise ValueError(f"a vocabulary holds distinct single characters, received {character!r}")
            seen.add(character)
        self._tokens = (*SPECIAL_TOKENS, *self.characters)
        self._ids = {character: i for i, character in enumerate(self._tokens) if i >= len(SPECIAL_TOKENS)}

    @property
    def vocab_size(self) -> int:
        return len(self._tokens)

    def is_outside(self, character: str) -> bool:
        """Whether the network can only copy this character: it is read as ``<outside>``."""
        return self._source_id(character) == OUTSIDE_ID

    def _source_id(self, character: str) -> int:
        known = self._ids.get(character)
        if known is not None:
            return known
        if hangul.is_syllable(character):
            return self.vocab_size + ord(character) - hangul.FIRST_SYLLABLE
        return OUTSIDE_ID

    def encode_source(self, text: str) -> list[int]:
        """(S,) ids that the encoder reads, the end mark last."""
        return [*map(self._source_id, text), END_ID]

    def encode_target(self, text: str) -> list[int]:
        """(T,) ids that the decoder should produce, the end mark last; all below ``vocab_size``."""
        return [*(self._ids.get(character, OUTSIDE_ID) for character in text), END_ID]

    def decode(self, ids: Iterable[int], source: str) -> str:
        """Text of produced ids, up to the end mark; ``<outside>`` becomes the character of
        ``source`` that stands at its place in the cheapest alignment of both (dropped if none does)."""
        produced = []
        for token_id in ids:
            if token_id == END_ID:
                break
            if token_id == OUTSIDE_ID:
                produced.append(_HOLE)
            elif token_id >= len(SPECIAL_TOKENS):
                produced.append(self._tokens[token_id])
        text = "".join(produced)
        return self._fill_holes(text, source) if _HOLE in text else text

    def _fill_holes(self, text: str, source: str) -> str:
        holes = "".join(c if c in self._ids else _HOLE for c in source)
        filled = ["" if c == _HOLE else c for c in text]
        for block in Levenshtein.opcodes(holes, text):
            outside = [i for i in range(block.src_start, block.src_end) if holes[i] == _HOLE]
            wanted = [i for i in range(block.dest_start, block.dest_end) if text[i] == _HOLE]
            for position, origin in zip(wanted, outside, strict=False):
                filled[position] = source[origin]
        return "".join(filled)

    def labels(self, ids: Iterable[int]) -> tuple[str, ...]:
        """Ids that the network can produce, as labels: a space becomes a visible mark."""
        return tuple(VISIBLE_SPACE if token == " " else token for token in (self._tokens[i] for i in ids))

    def features(self) -> np.ndarray:
        """(vocab_size + 11172, 4) int32 of each id: its own embedding row, initial, medial, final.

        Jamo are counted from 1 (a syllable without a coda has final 1); 0 means "no Hangul
        syllable". A syllable outside the vocabulary shares the row of ``<outside>``. All callers are given the same array;
        it is not to be changed.
        """
        return self._features

    @cached_property
    def _features(self) -> np.ndarray:
        rows = np.zeros((self.vocab_size + hangul.SYLLABLE_COUNT, 4), np.int32)
        rows[: self.vocab_size, 0] = np.arange(self.vocab_size)
        rows[self.vocab_size :, 0] = OUTSIDE_ID
        for character, token_id in self._ids.items():
            if hangul.is_syllable(character):
                rows[token_id, 1:] = np.add(hangul.indices(character), 1)
        offsets = np.arange(hangul.SYLLABLE_COUNT)
        rows[self.vocab_size :, 1:] = np.stack([offsets // 588, offsets % 588 // 28, offsets % 28], 1) + 1
        return rows


def pad(rows: Sequence[Sequence[int]], length: int | None = None) -> np.ndarray:
    """(B, length) int32, padded at the end; without ``length``, as long as the longest row."""
    padded = np.full((len(rows), max(map(len, rows)) if length is None else length), PAD_ID, np.int32)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return padded


# Hanja with two Korean readings have a second code point here, which Korean keyboards produce.
_COMPATIBILITY_IDEOGRAPHS = re.compile("([\uf900-\ufad9\U0002f800-\U0002fa1d]+)")


def normalise(text: str) -> str:
    """NFC (Unicode Standard Annex 15): decomposed Hangul, as some systems type it, is composed.

    CJK compatibility ideographs alone stay as they were typed; NFC would exchange them for others.
    """
    pieces = _COMPATIBILITY_IDEOGRAPHS.split(text)
    pieces[::2] = (unicodedata.normalize("NFC", piece) for piece in pieces[::2])
    return "".join(pieces)


def visible(text: str) -> tuple[str, ...]:
    """The characters of a text as labels: a space becomes a visible mark."""
    return tuple(VISIBLE_SPACE if character == " " else character for character in text)
