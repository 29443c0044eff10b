"""``matches``: a correction as editors show it, one ``Match`` for each word that is wrong.

A ``Change`` may be a single space or part of a syllable's neighbourhood; an editor underlines and replaces
words. So the changes of a word are one match, with offsets in characters and in UTF-16 code units.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from model.analysis.kinds import Reason, reason_of
from model.correction.correction import Correction, SentenceCorrection
from model.norm import Article
from model.text.changes import Change, apply_changes
from service.annotated import Annotated

LAYOUT = "layout"  # the kind of a word that was typed in the English layout


@dataclass(frozen=True)
class Match:
    """A wrong word, or several where a space between them is wrong.

    Offsets are those of the document as it was typed, which need not be in NFC.

    Example:
        >>> [found] = matches(corrector.correct("🙂 밥을 머거요."))
        >>> (found.start, found.end), (found.utf16_start, found.utf16_length), found.right
        ((5, 8), (6, 3), '먹어요')
    """

    start: int
    end: int
    utf16_start: int
    utf16_length: int
    wrong: str
    right: str
    changes: tuple[Change, ...]  # offsets in ``sentence``
    sentence: SentenceCorrection  # with the changes made, those that are only offered, too
    offered: int | None  # the number of the proposal, from 0, where it is only offered

    @property
    def is_sure(self) -> bool:
        """Whether the corrector makes the changes by itself."""
        return self.offered is None

    @property
    def confidence(self) -> float | None:
        """The lowest of the changes, in 0..1; None where a model does not say."""
        weighed = [change.confidence for change in self.changes if change.is_weighed]
        return min(weighed, default=None)

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """The reason for each of the changes. Words in the English layout have the kind ``LAYOUT``."""
        source, text = self.sentence.source, self.sentence.text
        return tuple(
            Reason((LAYOUT,), None, ()) if change.is_english_layout else reason_of(change, source, text)
            for change in self.changes
        )

    @property
    def reason(self) -> Reason:
        """The most telling one of ``reasons``: by an article of the norm, else not of spaces alone."""
        return min(self.reasons, key=lambda each: (each.article is None, each.kinds == ("spacing",)))

    @property
    def article(self) -> Article | None:
        """The article of the norm that one of the changes follows."""
        return self.reason.article

    @property
    def edit(self) -> int:
        """The number of its first change among those of the sentence, from 1, as addresses count."""
        return self.sentence.changes.index(self.changes[0]) + 1


def matches(
    correction: Correction, document: Annotated | None = None, offers: bool = False
) -> tuple[Match, ...]:
    """The matches of a correction in the order of the document.

    Args:
        document: the document whose ``text`` was corrected; None for plain text in NFC.
        offers: whether words with changes that were not sure enough are among them.

    Example:
        >>> [(found.wrong, found.right) for found in matches(corrector.correct("할수 있는 만큼 머거요."))]
        [('할수', '할 수'), ('머거요', '먹어요')]
    """
    document = document or Annotated.plain(correction.source)
    if document.text != correction.source:  # letters of two pieces were composed to one
        return ()
    placed = _Placed(document)
    found = [match for sentence in correction.sentences for match in placed.sure(sentence)]
    if offers:
        taken = [(match.start, match.end) for match in found]
        offered = (match for sentence in correction.sentences for match in placed.offers(sentence))
        found += [
            match
            for match in offered
            if not any(match.start < end and start < match.end for start, end in taken)
        ]
    return tuple(sorted(found, key=lambda match: match.start))


class _Placed:
    """Places changes in a document."""

    def __init__(self, document: Annotated):
        self._document = document
        self._astral = [match.start() for match in re.finditer("[^\0-\uffff]", document.document)]

    def sure(self, sentence: SentenceCorrection) -> Iterator[Match]:
        return self._grouped(sentence, sentence.changes, None)

    def offers(self, sentence: SentenceCorrection) -> Iterator[Match]:
        made = {change.source_start for change in sentence.changes}
        for number, change in enumerate(sentence.proposed):
            if change.source_start not in made and change.is_offered:
                as_made = replace(sentence, accepted=sentence.accepted | {number})
                (same,) = (each for each in as_made.changes if each.source_start == change.source_start)
                yield from self._grouped(as_made, [same], number)

    def _grouped(
        self, sentence: SentenceCorrection, changes: Iterable[Change], offered: int | None
    ) -> Iterator[Match]:
        """One match for the changes whose words touch."""
        span, group = (0, 0), list[Change]()
        for change in changes:
            widened = self._widened(change.source_start + sentence.start, change.source_end + sentence.start)
            if widened is None:
                continue
            if group and widened[0] < span[1]:
                span, group = (span[0], max(span[1], widened[1])), [*group, change]
                continue
            if group:
                yield self._match(span, group, sentence, offered)
            span, group = widened, [change]
        if group:
            yield self._match(span, group, sentence, offered)

    def _widened(self, start: int, end: int) -> tuple[int, int] | None:
        """The words that a change touches, without the markup beside them."""
        bounds, text = self._document.bounds(start, end), self._document.text
        if bounds is None:
            return None
        first, last = bounds
        while start > first and text[start - 1].isalnum():
            start -= 1
        while end < last and text[end].isalnum():
            end += 1
        if start == end:  # an insertion between two signs
            start, end = (start - 1, end) if start > first else (start, end + 1)
        return start, end

    def _match(
        self, span: tuple[int, int], group: list[Change], sentence: SentenceCorrection, offered: int | None
    ) -> Match:
        start, end = self._document.place(*span)
        moved = [change.moved(sentence.start - span[0], 0) for change in group]
        right = apply_changes(self._document.text[slice(*span)], moved)
        first, last = (place + bisect_left(self._astral, place) for place in (start, end))
        wrong = self._document.document[start:end]
        return Match(start, end, first, last - first, wrong, right, tuple(group), sentence, offered)
