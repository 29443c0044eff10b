"""``KeepingCorrector``: a cache by sentence; ``check``: the interface of py-hanspell.

An editor sends the whole text at each pause, so all but one of its sentences were answered before. Answers
are kept in memory alone, the last ``KEPT`` of them: 45 MB.
"""

import re
import time
from collections import OrderedDict
from collections.abc import Callable
from enum import IntEnum
from functools import cache
from typing import NamedTuple, overload

from model.correction.corrector import Corrector
from model.correction.mending import Proposed
from model.text.passages import Passage
from service.annotated import Annotated
from service.matches import Match, matches

KEPT = 4_096  # sentences, with a few changes each
TOGETHER = 16  # sentences that are corrected before a text may be given up: 0.2 seconds


class TooSlowError(Exception):
    """A text was given up. The sentences that were corrected are kept, so a second try takes less."""


class KeepingCorrector(Corrector):
    """A corrector that keeps its answers by sentence. Not safe to call from several threads at once.

    Example:
        >>> keeping = KeepingCorrector.load()
        >>> keeping.correct("밥을 머거요. 안되요.").text, len(keeping.kept)
        ('밥을 먹어요. 안 돼요.', 2)
    """

    _is_over: Callable[[], bool] = staticmethod(lambda: False)

    @property
    def kept(self) -> OrderedDict[Passage, Proposed]:
        """The answers, the latest last."""
        return self.__dict__.setdefault("_kept", OrderedDict())

    def propose(self, sentences: list[Passage], keep_passes: bool) -> list[Proposed]:
        """As ``Mending.propose``; passes are not kept."""
        answers = {sentence: self.kept[sentence] for sentence in sentences if sentence in self.kept}
        new = [sentence for sentence in dict.fromkeys(sentences) if sentence not in answers]
        for first in range(0, len(new), TOGETHER):
            if self._is_over():
                raise TooSlowError
            batch = new[first : first + TOGETHER]
            found = dict(zip(batch, super().propose(batch, False), strict=True))
            answers |= found
            self.kept.update((each, found[each]) for each in batch if self._is_short(each))
        for sentence in sentences:
            if sentence in self.kept:
                self.kept.move_to_end(sentence)
        while len(self.kept) > KEPT:
            self.kept.popitem(last=False)
        return [answers[sentence] for sentence in sentences]

    def _is_short(self, sentence: Passage) -> bool:
        """False for one that is too long to read: it has its answer at once, and would fill the memory."""
        return len(sentence.text) <= self.config.max_length

    def matches(
        self, document: Annotated, offers: bool = False, is_over: Callable[[], bool] = lambda: False
    ) -> tuple[Match, ...]:
        """The matches of a document.

        Args:
            offers: as ``service.matches.matches``.
            is_over: whether the answer is not wanted any more; it is called before each batch.

        Raises:
            TooSlowError: if it is over.
        """
        self._is_over = is_over
        try:
            return matches(self.correct(document.text), document, offers)
        finally:
            del self._is_over


class CheckResult(IntEnum):
    """The state of a word in ``Checked.words``, with the numbers of py-hanspell."""

    PASSED = 0
    WRONG_SPELLING = 1
    WRONG_SPACING = 2
    AMBIGUOUS = 3
    STATISTICAL_CORRECTION = 4  # never used: each change is of spelling or spacing


class Checked(NamedTuple):
    """A corrected text as programs that used py-hanspell expect it."""

    result: bool
    original: str
    checked: str
    errors: int
    words: dict[str, CheckResult]
    time: float  # seconds

    def as_dict(self) -> dict:
        return self._asdict()

    def only_checked(self) -> str:
        return self.checked


@overload
def check(text: str) -> Checked: ...


@overload
def check(text: list[str]) -> list[Checked]: ...


def check(text: str | list[str]) -> Checked | list[Checked]:
    """Correct a text, or several, with the shipped model.

    Args:
        text: a text of any length, or a list of texts.

    Returns:
        For each text the corrected one, the number of wrong places, and a ``CheckResult`` for each corrected
        word. A word with a change that was not sure enough is AMBIGUOUS.

    Example:
        >>> found = check("할수 있는 만큼 머거요.")
        >>> found.checked, found.errors
        ('할 수 있는 만큼 먹어요.', 2)
        >>> {word: int(state) for word, state in found.words.items() if state}
        {'할': 2, '수': 2, '먹어요.': 1}
    """
    if not isinstance(text, str):
        return [check(each) for each in text]
    begun = time.perf_counter()
    correction = _shipped().correct(text)
    found = matches(correction, Annotated.plain(text), offers=True)
    touched = [
        (change.target_start, change.target_end, _state(change.moves_spaces)) for change in correction.changes
    ]
    for match in (match for match in found if not match.is_sure):
        start = match.sentence.start + match.changes[0].source_start
        before = (each for each in correction.changes if each.source_end <= start)
        start += sum(len(each.right) - len(each.wrong) for each in before)
        touched.append((start, start + len(match.changes[0].wrong), CheckResult.AMBIGUOUS))
    words = {}
    for word in re.finditer(r"\S+", correction.text):
        states = [state for start, end, state in touched if start <= word.end() and word.start() <= end]
        words[word[0]] = min(states, default=CheckResult.PASSED)
    errors = sum(match.is_sure for match in found)
    return Checked(True, text, correction.text, errors, words, time.perf_counter() - begun)


def _state(moves_spaces: bool) -> CheckResult:
    return CheckResult.WRONG_SPACING if moves_spaces else CheckResult.WRONG_SPELLING


@cache
def _shipped() -> KeepingCorrector:
    return KeepingCorrector.load()
