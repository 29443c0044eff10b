"""``Correction``: the result, with changes made, changes only proposed, and attention.

It keeps every proposed change with its confidence. So another minimum confidence, or a person's decision
about one change (``with_decisions``), gives another text without running the network. Each sentence keeps the
pass that wrote its answer, and at most ``KEPT_TRACES`` traces.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from model.text.changes import Change, apply_changes, select_changes
from model.trace.trace import AttentionTrace

KEPT_TRACES = 4  # of one sentence: of the network's own text, and of the last few with other decisions


@dataclass(frozen=True)
class SentenceCorrection:
    """One sentence of a text, or one part of a sentence that is longer than the network can read.

    ``start`` is where it begins in the whole text (in NFC).

    >>> [sentence.text for sentence in corrector.correct("안녕. 밥을 머거요.").sentences]
    ['안녕.', '밥을 먹어요.']
    """

    start: int
    source: str
    proposed: tuple[Change, ...]  # all the network would change; the target is the text with all of them
    minimum_confidence: float
    too_long: bool  # more characters than the network can read without any space: left as it is
    _find_trace: Callable[[str, str], AttentionTrace] = field(repr=False, compare=False)
    accepted: frozenset[int] = frozenset()  # numbers in ``proposed``, from 0: made although unsure
    rejected: frozenset[int] = frozenset()  # likewise: left undone although sure
    # Traces by corrected text. Copies of this sentence with other decisions share them.
    _traces: dict[str, AttentionTrace] = field(default_factory=dict, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """The state that pickle keeps: the trace of ``text``, and no network."""
        traces = {} if self.too_long else {self.text: self.trace}
        return {**vars(self), "_find_trace": _without_network, "_traces": traces}

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """The changes that are made; offsets inside ``source`` and ``text``."""
        made = {change for number, change in enumerate(self.proposed) if self._is_made(number, change)}
        return select_changes(self.proposed, made.__contains__)

    def _is_made(self, number: int, change: Change) -> bool:
        if number in self.rejected:
            return False
        if number in self.accepted:
            return True
        if change.is_english_layout:
            return False
        if not change.is_weighed:
            return True
        return change.confidence >= self.minimum_confidence

    @cached_property
    def text(self) -> str:
        """The corrected sentence."""
        return apply_changes(self.source, self.changes)

    @property
    def trace(self) -> AttentionTrace:
        """All attention of the pass that produces ``text``; computed once, then kept.

        Raises ValueError for a sentence that was too long.
        """
        trace = self._traces.get(self.text)
        if trace is None:
            trace = self._find_trace(self.source, self.text)
            while len(self._traces) >= KEPT_TRACES:
                self._traces.pop(next(iter(self._traces)), None)
            self._traces[self.text] = trace
        return trace


def _without_network(source: str, target: str) -> AttentionTrace:
    raise ValueError("a stored correction has the traces of its texts alone: correct the text again")


@dataclass(frozen=True)
class Correction:
    """The correction of one text: ``source`` as it was typed, in NFC, and ``text`` corrected.

    >>> found = corrector.correct("밥을 머거요.")
    >>> found.text, [(change.wrong, change.right) for change in found.changes]
    ('밥을 먹어요.', [('머거', '먹어')])
    >>> found.with_decisions(rejected={0}).text  # a person takes the first change back
    '밥을 머거요.'
    """

    source: str
    sentences: tuple[SentenceCorrection, ...]

    @cached_property
    def text(self) -> str:
        return apply_changes(self.source, self.changes)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """All changes made, with offsets in the whole ``source`` and ``text``."""
        return _in_whole_text(self.sentences, "changes")

    @cached_property
    def proposed(self) -> tuple[Change, ...]:
        """All changes the network would make, confident or not; the target is the text with all of them."""
        return _in_whole_text(self.sentences, "proposed")

    def with_minimum_confidence(self, minimum: float) -> "Correction":
        """The same answer of the network with another threshold; the network is not run again."""
        if not 0.0 <= minimum <= 1.0:
            raise ValueError(f"a minimum confidence should be in [0, 1], received {minimum!r}")
        return replace(
            self, sentences=tuple(replace(each, minimum_confidence=minimum) for each in self.sentences)
        )

    def with_decisions(self, accepted: Iterable[int] = (), rejected: Iterable[int] = ()) -> "Correction":
        """The same answer with some changes decided by a person, whatever their confidence.

        Numbers count ``proposed`` from 0; a number that is none of them decides nothing. The changes keep
        their probabilities, which are of one pass over all of them; ``trace`` is of the text with these
        decisions.
        """
        accepted, rejected = set(accepted), set(rejected)
        sentences, first = [], 0
        for sentence in self.sentences:
            numbers = range(first, first + len(sentence.proposed))
            first = numbers.stop
            inside = [
                frozenset(n - numbers.start for n in each if n in numbers) for each in (accepted, rejected)
            ]
            sentences.append(replace(sentence, accepted=inside[0], rejected=inside[1]))
        return replace(self, sentences=tuple(sentences))

    @property
    def trace(self) -> AttentionTrace:
        """The trace of the first sentence that changed, else of the first one.

        Raises ValueError for a text without a sentence; ``sentences[i].trace`` has the others.
        """
        if not self.sentences:
            raise ValueError(f"there is no sentence in {self.source!r}, so there is no attention")
        return next((s for s in self.sentences if s.changes), self.sentences[0]).trace


def _in_whole_text(sentences: Iterable[SentenceCorrection], name: str) -> tuple[Change, ...]:
    shifted, drift = [], 0  # drift: how much longer the text is than the source so far
    for sentence in sentences:
        changes = getattr(sentence, name)
        shifted += [change.moved(sentence.start, sentence.start + drift) for change in changes]
        drift += sum(len(change.right) - len(change.wrong) for change in changes)
    return tuple(shifted)
