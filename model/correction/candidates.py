"""Candidate corrections of a sentence: the network's answer and its likely alternatives.

A sentence is read whole, or in parts if its answer lost an anchor (``model.text.protected``).

For each token of the answer the pass also gives the probability of every other token. Each token of at least
1% makes a candidate: the answer with this one token exchanged. No further pass is needed. The tokens after
the exchanged one keep the probabilities that they have in the answer, which is an approximation.

It is worth it: for 79% of the development pairs the answer itself is right, and for 90% the answer or one of
its candidates (measured on the first model with candidates).

Candidates for the same tokens form one stretch of the sentence, of which one is chosen
(``confidence.Confidence.choose``).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import nlargest
from os.path import commonprefix
from typing import NamedTuple

import numpy as np

from model.activations.drafting import Produced
from model.text.changes import Change, apply_changes, find_changes
from model.text.passages import Passage, lost_anchors, passages_beside
from model.text.tokenizer import END_ID, OUTSIDE_ID, PAD_ID, START_ID, Tokenizer


class Answer(NamedTuple):
    """The network's text for one sentence, or for a part of a sentence that it read by itself."""

    part: Passage
    target: str
    produced: Produced  # the ids of ``target``, the end mark last, and the pass that wrote them

    @property
    def source(self) -> str:
        return self.part.text

    @property
    def is_torn(self) -> bool:
        """Whether an end mark or another mark is in its middle. Such an answer is not used."""
        return len(self.target) + 1 != len(self.produced.ids)

    @property
    def is_new(self) -> bool:
        return self.target != self.source and not self.is_torn


Write = Callable[[list[str]], list[tuple[str, Produced] | None]]


def read(sentences: dict[int, Passage], write: Write) -> dict[int, list[Answer]]:
    """The network's answers to some sentences, by their numbers.

    If it lost an anchor, the parts beside the anchor are read by themselves.

    ``write(texts)`` gives for each text the network's answer and its pass. It gives None if no end mark came:
    that answer is cut off, so the text stays uncorrected.
    """
    found: dict[int, list[Answer]] = {number: [] for number in sentences}
    waiting = list(sentences.items())
    while waiting:
        again = []
        for (number, part), written in zip(waiting, write([part.text for _, part in waiting]), strict=True):
            lost = part.anchors if written is None else lost_anchors(part, written[0])
            if lost:
                again += [(number, each) for each in passages_beside(part, lost)]
            elif written is not None:
                found[number].append(Answer(part, *written))
        waiting = again
    for answers in found.values():
        answers.sort(key=lambda answer: answer.part.start)
    return found


LEAST_PROBABILITY = 0.01  # a token that is less probable makes no candidate
MOST = 32  # such tokens in a sentence, the most probable ones; nonsense could have thousands


@dataclass(frozen=True)
class Stretch:
    """``source[start:end]``, and its alternatives.

    ``candidates``: the natural logarithm of the network's probability of each text; first its own answer.
    ``kept``, the source as it is, is always among them. If it differs in several characters, its probability
    is that of the first one.
    """

    start: int
    end: int
    kept: str
    candidates: Mapping[str, float]

    @property
    def written(self) -> str:
        """The network's own text for it."""
        return next(iter(self.candidates))

    @property
    def is_changed(self) -> bool:
        """Whether the network wrote something else than the source."""
        return self.written != self.kept


def find_stretches(
    source: str, target: str, produced: Produced, tokenizer: Tokenizer, accepts: Callable[[Change], bool]
) -> tuple[Stretch, ...]:
    """The stretches of ``source`` in which the network wrote something else or might have.

    ``produced``: the pass that wrote ``target``: a token for each of its characters, and the end mark.
    ``accepts`` tells whether a change may be proposed; no candidate contains one that may not.
    """
    logs = _Logs(produced)
    written = find_changes(source, target)
    others = list(_others(logs, tokenizer))
    edits = [
        *((change.target_start, change.target_end) for change in written),
        *(each[:2] for each in others),
    ]
    original = tokenizer.encode_target(source)
    stretches = []
    for first, last in _together(edits):
        drift = _growth(change for change in written if change.target_end <= first > change.target_start)
        inside = [
            c for c in written if c.target_end <= last and (first <= c.target_start < max(last, first + 1))
        ]
        start, end = first - drift, last - drift - _growth(inside)
        kept, rows = source[start:end], range(first, max(last, first + 1))

        certain = sum(logs(t, produced.ids[t]) for t in rows)
        candidates = {_accepted(kept, target[first:last], start, accepts): certain}
        for each in others:
            if first <= each.first < rows.stop and each.last <= last:
                text = target[first : each.first] + each.text + target[each.last : last]
                if text == _accepted(kept, text, start, accepts):
                    candidates.setdefault(text, certain + each.ratio)
        if kept not in candidates:
            same = len(commonprefix([kept, target[first:last]]))
            candidates[kept] = logs(first + same, original[start + same])
        if len(candidates) > 1:
            stretches.append(Stretch(start, end, kept, candidates))
    return tuple(stretches)


def _accepted(kept: str, text: str, start: int, accepts: Callable[[Change], bool]) -> str:
    """``text`` without the changes that ``accepts`` refuses.

    ``kept`` is the source's text there, from ``start`` on.
    """
    return apply_changes(kept, (c for c in find_changes(kept, text) if accepts(c.moved(start, start))))


class _Other(NamedTuple):
    """Another token: it puts ``text`` in place of the answer's characters from ``first`` to ``last``."""

    first: int
    last: int
    text: str
    ratio: float  # how much more probable it is than the answer's own token, as a logarithm


class _Logs:
    """The natural logarithms of the probabilities of single tokens in a pass.

    Most rows of a pass leave no doubt and are never used. So a row is normalised when it is first used.
    """

    def __init__(self, produced: Produced):
        self.ids, self._logits = produced.ids, produced.logits
        self._highest = self._logits.max(axis=1)  # (T,)
        self._total: dict[int, float] = {}

    def __call__(self, t: int, token: int) -> float:
        if t not in self._total:
            row = self._logits[t]
            self._total[t] = float(self._highest[t] + np.log(np.exp(row - self._highest[t]).sum()))
        return float(self._logits[t, token]) - self._total[t]

    def probable(self, least: float) -> Iterator[tuple[int, int]]:
        """(t, token) of all other tokens than the written ones that have a logarithm of ``least`` or more."""
        # A token is at most as probable as its ratio to the most probable one, so this finds all that may
        # qualify.
        near = np.flatnonzero(self._logits > self._highest[:, np.newaxis] + least)
        for t, token in (divmod(place, self._logits.shape[1]) for place in near.tolist()):
            if token != self.ids[t] and self(t, token) > least:
                yield t, token


def _others(logs: _Logs, tokenizer: Tokenizer) -> Iterator[_Other]:
    """All that the network might have written in place of one token, the most probable first."""
    ids, found = logs.ids, logs.probable(math.log(LEAST_PROBABILITY))
    rated = (
        (logs(t, token) - logs(t, ids[t]), t, token)
        for t, token in found
        if token not in (PAD_ID, START_ID, OUTSIDE_ID)
    )
    for ratio, t, token in nlargest(MOST, rated):
        for size, text in _instead(ids, t, token, tokenizer):
            yield _Other(t, t + size, text, ratio)


def _instead(ids: list[int], t: int, token: int, tokenizer: Tokenizer) -> Iterator[tuple[int, str]]:
    """The alternatives with ``token`` at place ``t`` of the answer: how many characters it replaces, and the
    new text.
    """
    if token == END_ID:
        if t == len(ids) - 2:  # elsewhere it would cut the sentence off
            yield 1, ""
        return
    text = tokenizer.decode([token], "")
    if ids[t] == END_ID:
        yield 0, text
        return
    follows = token == ids[t + 1]
    if follows:  # the answer's own token is left out
        yield 1, ""
    there = tokenizer.decode(ids[t : t + 1], "")
    if " " not in (there, text):
        yield 1, text
    elif not follows:
        yield 0, text


def _together(edits: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches of the answer that edits of the same tokens cover."""
    spans: list[tuple[int, int]] = []
    for first, last in sorted(edits):
        if spans and (first < spans[-1][1] or first == spans[-1][0]):
            spans[-1] = spans[-1][0], max(spans[-1][1], last)
        else:
            spans.append((first, last))
    return spans


def _growth(changes: Iterable[Change]) -> int:
    return sum(len(change.right) - len(change.wrong) for change in changes)
