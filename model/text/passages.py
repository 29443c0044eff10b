"""``Passage``: part of a sentence between anchors, the spans to be copied in order.

Anchors are runs of protected characters and verbatim spans (``model.text.protected``). Some marks were rare
in training. In ``* 않된다`` the network takes the asterisk for a slip in the next word and writes 안 된다: a
lost mark and a mended word in one change. So a sentence is cut at the anchors that were lost, and each
passage between them is read by itself.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from model.text.hangul import is_hangul
from model.text.protected import CLOSING, is_protected, outcries
from model.text.tokenizer import Span, clipped

_LONE_SYLLABLE = re.compile("[가-힣](?![가-힣ㄱ-ㅣ])")


class Passage(NamedTuple):
    """A stretch of a sentence that the network reads by itself, without white space at its ends.

    ``start`` is where it begins in the sentence. ``anchors`` are in order and do not overlap. ``verbatim``
    are the spans that are no prose; each lies within an anchor. ``kept`` are those of ``kept_spans``. All
    count from the start of ``text``.
    """

    start: int
    text: str
    anchors: tuple[Span, ...] = ()
    verbatim: tuple[Span, ...] = ()
    kept: tuple[Span, ...] = ()

    @classmethod
    def of(cls, sentence: str, verbatim: Iterable[Span] = (), kept: Iterable[Span] = ()) -> "Passage":
        """A whole sentence with all its anchors.

        >>> Passage.of("* 지각 3회 ㅠㅠ").anchors
        (Span(start=0, end=1), Span(start=5, end=6), Span(start=8, end=10))
        """
        verbatim = tuple(verbatim)
        return cls(0, sentence, tuple(_anchors(sentence, verbatim)), verbatim, tuple(kept))

    @property
    def has_prose(self) -> bool:
        """Whether Hangul occurs outside the verbatim spans.

        >>> Passage.of("3 * 4").has_prose
        False
        """
        inside = {i for span in self.verbatim for i in range(*span)}
        return any(is_hangul(c) for i, c in enumerate(self.text) if i not in inside)

    def cut(self, start: int, end: int) -> "Passage":
        """The text from ``start`` to ``end``, but for the white space at its ends."""
        text = self.text[start:end]
        start, end = start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())
        spans = (clipped(each, start, end) for each in (self.anchors, self.verbatim, self.kept))
        return Passage(self.start + start, self.text[start:end], *spans)


def _anchors(text: str, verbatim: Sequence[Span]) -> Iterator[Span]:
    """The spans that are no prose, laughing and weeping, and all other runs of protected characters."""
    copied = [False] * len(text)
    for start, end in (*verbatim, *outcries(text)):
        copied[start:end] = [True] * (end - start)
    kinds = [2 if mine else int(is_protected(c)) for mine, c in zip(copied, text, strict=True)]
    start = 0
    for i in range(1, len(text) + 1):
        if i == len(text) or kinds[i] != kinds[start]:
            if kinds[start]:
                yield Span(start, i)
            start = i


def lost_anchors(passage: Passage, target: str) -> list[Span]:
    """The anchors of a passage that ``target`` does not copy at their place, in order.

    If none is lost, but the target has more protected characters than the source: all of them.

    >>> lost_anchors(Passage.of("* 않된다"), "안 된다")
    [Span(start=0, end=1)]
    """
    if not passage.anchors:
        return []
    places = _copied(passage.text, target)
    lost = [
        anchor
        for anchor in passage.anchors
        if not _is_copied(anchor, places)
        or not all(
            _has_same_spaces(span, passage.text, target, places)
            for span in passage.verbatim
            if anchor.start <= span.start and span.end <= anchor.end
        )
    ]
    invented = sum(map(is_protected, target)) > sum(map(is_protected, passage.text))
    return list(passage.anchors) if invented and not lost else lost


def _is_copied(anchor: Span, places: dict[int, int]) -> bool:
    """Whether all characters of an anchor are side by side in the target."""
    first = places.get(anchor.start)
    return first is not None and all(places.get(i) == first + i - anchor.start for i in range(*anchor))


def _has_same_spaces(span: Span, source: str, target: str, places: dict[int, int]) -> bool:
    """Whether a copied span has white space before it, and after it, in the target just where it has in the
    source.
    """
    start, end = places[span.start], places[span.end - 1] + 1
    return all(
        one[-1:].isspace() == other[-1:].isspace()
        for one, other in ((source[: span.start], target[:start]), (source[span.end :][:1], target[end:][:1]))
    )


def _copied(source: str, target: str) -> dict[int, int]:
    """The place in the target of each character of the source that is kept, by the fewest edits (Levenshtein
    1966).
    """
    return {
        block.src_start + i: block.dest_start + i
        for block in Levenshtein.opcodes(source, target)
        if block.tag == "equal"
        for i in range(block.src_end - block.src_start)
    }


def passages_beside(passage: Passage, anchors: Sequence[Span]) -> list[Passage]:
    """The passages before, between and after these anchors; only those that hold prose.

    >>> [each.text for each in passages_beside(Passage.of("* 않된다"), [Span(0, 1)])]
    ['않된다']
    """
    starts, ends = [0, *(a.end for a in anchors)], [*(a.start for a in anchors), len(passage.text)]
    starts = [start + _particle(passage.text, start) for start in starts]
    passages = [passage.cut(start, end) for start, end in zip(starts, ends, strict=True) if start < end]
    return [each for each in passages if each.has_prose]


def _particle(text: str, start: int) -> int:
    """How many characters to skip: 1 for a lone particle behind a closing bracket, as 를 in {두 쪽}를, which
    is too little to read; else 0.
    """
    return int(text[:start][-1:] in CLOSING and _LONE_SYLLABLE.match(text, start) is not None)
