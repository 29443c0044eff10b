"""``Tokenizer``: sentences to token ids and back; and the sentences of a text.

A text is cut into sentences and the white space between them; nothing is lost. A long sentence is cut into
parts at spaces, because the network knows no more than ``max_length`` positions, and its output for sentences
four times as long as those of its training is nonsense.

A token is a Unicode character. The vocabulary holds the 2,350 syllables of KS X 1001, ASCII, jamo and
frequent punctuation. The network sees a syllable as the sum of its own vector and those of its initial,
medial and final jamo; the rest of the 11,172 syllables it reads by their jamo alone. A character outside the
vocabulary (emoji, hanja, other scripts) is one token, ``<outside>``. Where the network writes ``<outside>``,
``Tokenizer.decode`` aligns both sentences and puts the character of the source there.
"""

import math
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from model.text import hangul

# What a sentence goes on with behind words that it quotes: "가자." 하고 말했다.
_QUOTING = (
    r"(?:(?:이?라|하|하시)?(?:고|며|면서)|(?:이?라)?[는던]|이?란|하(?:시?더니|자|니|던|는(?! 수)))"
    r"[는도만]?(?![0-9A-Za-z가-힣])|했|하셨|하였|한다|하신다|합니다|하십니다"
)
# A sentence ends after . ! ? … (and closing quotes or brackets) where white space follows, and at
# line breaks. "3.14" and "e.g" have no white space inside, so they stay whole. A point behind a digit, or
# behind the letter that begins a line, is that of a date or a number of a list: 2026. 11. 5., 1., 가. Each
# run of white space is tried from its beginning only (the lookbehind): else a long one would take quadratic
# time.
SENTENCE_BOUNDARY = re.compile(
    r"(?:(?<=[.!?…])(?<![0-9]\.)(?<!^[가나다라마바사아자차카타파하]\.)|(?<=[.!?…][)\]])(?<![0-9]\.[)\]]))\s+"
    rf"|(?<=[.!?…][\"'”’」』》])\s+(?!\s|{_QUOTING})|(?<!\s)\s*[\n\r\u2028\u2029]\s*",
    re.MULTILINE,
)

_LINE_END = re.compile(r"[\n\r\u2028\u2029]")
_SPACE = re.compile(r"\s+")
_BEGINNING = 32  # characters that are compared first, to save time: most parts of a long text differ there
LEAST_JOINED = 2  # characters of a unit that is repeated without spaces
LEAST_REPETITIONS = 2  # of parts between white space
LEAST_REPETITIONS_JOINED = 3


class Span(NamedTuple):
    start: int
    end: int


def clipped(spans: Iterable[Span], start: int, end: int) -> tuple[Span, ...]:
    """The parts of some spans between ``start`` and ``end``, counted from ``start``.

    >>> clipped([Span(0, 3), Span(5, 9)], 2, 6)
    (Span(start=0, end=1), Span(start=3, end=4))
    """
    return tuple(Span(max(a, start) - start, min(b, end) - start) for a, b in spans if a < end and b > start)


def matches_apart(pattern: re.Pattern[str], text: str, spans: Iterable[Span]) -> Iterator[re.Match[str]]:
    """Where the pattern occurs outside of these spans.

    >>> [found[0] for found in matches_apart(re.compile("[ab]"), "a b", [Span(0, 1)])]
    ['b']
    """
    spans = tuple(spans)
    for found in pattern.finditer(text):
        if not any(found.start() < end and start < found.end() for start, end in spans):
            yield found


def split_sentences(text: str, longest: int | None = None) -> list[Span]:
    """The spans of the sentences of a text, in order.

    Between them lies white space, and in a repetition the mark that the last one lacks (좋아! 좋아! 좋아).

    A text that says the same again and again is cut there: 할 수 있다 할 수 있다. A network that reads it as
    one loses count. Texts of several sentences come first, then each sentence. A sentence of more than
    ``longest`` characters is cut at white space into parts of about equal length. Only text without white
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
    # Without spaces (사랑해사랑해사랑해) the repeated unit may have any length. One repeated letter (하하하)
    # is a sound and stays whole.
    least = LEAST_REPETITIONS if gaps else LEAST_REPETITIONS_JOINED
    for period in gaps or range(LEAST_JOINED, len(said) if len(set(said)) > 1 else 0):
        if period * (least - 1) >= len(said):
            break
        # The last repetition may lack the mark of the others (좋아, 좋아, 좋아). Then no repetition contains
        # its mark.
        length = (len(said) - 1) % period + 1
        repeats = said.startswith(said[period : period + _BEGINNING]) and said.startswith(said[period:])
        if repeats and not any(map(str.isalnum, said[length:period])):
            yield from (Span(first, first + length) for first in range(start, end, period))
            return
    if start < end:
        yield Span(start, end)


def _parts(text: str, start: int, end: int, longest: int) -> Iterator[Span]:
    """Parts of about equal length, cut at white space; none has more than ``longest`` characters if the white
    space allows.
    """
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
    for boundary in SENTENCE_BOUNDARY.finditer(text, start, end):
        if boundary.start() > start:
            _add(spans, text, Span(start, boundary.start()))
        start = boundary.end()
    if start < end:
        _add(spans, text, Span(start, end))
    return spans


def _add(spans: list[Span], text: str, found: Span) -> None:
    """Append ``found``; an emoji or other signs without a letter belong to the sentence before them on their
    line.
    """
    signs_alone = not any(map(str.isalnum, text[found.start : found.end]))
    if spans and signs_alone and not _LINE_END.search(text, spans[-1].end, found.start):
        spans[-1] = Span(spans[-1].start, found.end)
    else:
        spans.append(found)


PAD, OUTSIDE, START, END = "<pad>", "<outside>", "<s>", "</s>"
SPECIAL_TOKENS = (PAD, OUTSIDE, START, END)
PAD_ID, OUTSIDE_ID, START_ID, END_ID = range(4)
VISIBLE_SPACE = "␣"

_HOLE = "\ufffc"  # OBJECT REPLACEMENT CHARACTER: Unicode's placeholder for an object in a text


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
        """Whether the network can only copy this character: it is read as ``<outside>``.

        >>> Tokenizer("가나다 ").is_outside("🙂"), Tokenizer("가나다 ").is_outside("값")
        (True, False)
        """
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
        """Text of produced ids (T,), up to the end mark; ``<outside>`` becomes the character of
        ``source`` at its place in the cheapest alignment of both (dropped if none does)."""
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
        """Ids that the network can produce, as labels: a space becomes a visible mark.

        >>> tokenizer = Tokenizer("가나 ")
        >>> tokenizer.labels(tokenizer.encode_target("가 "))
        ('가', '␣', '</s>')
        """
        return tuple(VISIBLE_SPACE if token == " " else token for token in (self._tokens[i] for i in ids))

    def features(self) -> np.ndarray:
        """(vocab_size + 11172, 4) int32 of each id: its own embedding row, initial, medial, final.

        Jamo are counted from 1 (a syllable without a coda has final 1); 0 means "no Hangul syllable". A
        syllable outside the vocabulary shares the row of ``<outside>``. All callers are given the same array;
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


def typed_offsets(text: str) -> Sequence[int]:
    """For each offset in ``normalise(text)``, its end included, the offset in ``text``.

    Example:
        >>> typed_offsets("\\u1100\\u1161.")  # 가 in two letters
        [0, 2, 3]
    """
    if normalise(text) == text:
        return range(len(text) + 1)
    offsets, cluster, begun = list[int](), "", 0
    for place, character in enumerate(text):
        if cluster and not _continues(cluster, character):
            offsets += [begun] * len(normalise(cluster))
            cluster, begun = "", place
        cluster += character
    offsets += [begun] * len(normalise(cluster))
    return [*offsets, len(text)]


def _continues(cluster: str, character: str) -> bool:
    """Whether a character composes, or may be reordered, with those before it."""
    return unicodedata.combining(character) > 0 or normalise(cluster + character) != normalise(
        cluster
    ) + normalise(character)


def visible(text: str) -> tuple[str, ...]:
    """The characters of a text as labels: a space becomes a visible mark.

    >>> visible("가 나")
    ('가', '␣', '나')
    """
    return tuple(VISIBLE_SPACE if character == " " else character for character in text)
