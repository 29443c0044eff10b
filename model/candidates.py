"""What else the network could have written, read off the pass that proved its answer.

For each token of the answer the pass tells how probable every other one was there. Each that is not improbable makes a candidate: the
answer with this one token instead. Further passes are not needed for this, though the probability of what follows such a token is
taken to be that of what follows in the answer.

Candidates that touch each other are put together in one stretch of the source, in which one of them is to be chosen
(``confidence.Confidence.choose``).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from os.path import commonprefix

import numpy as np

from model.changes import Change, apply_changes, find_changes
from model.drafting import Produced, log_softmax
from model.tokenizer import END_ID, OUTSIDE_ID, PAD_ID, START_ID, Tokenizer

LEAST_PROBABILITY = 0.01  # of a token that makes a candidate
MOST = 32  # such tokens in a sentence, the most probable ones: of nonsense there could be thousands


@dataclass(frozen=True)
class Stretch:
    """``source[start:end]``, and what could stand there instead.

    ``candidates``: the natural logarithm of the network's probability of each text, what it wrote itself first. ``kept``, the
    source as it is, is always among them; where it differs in several characters, with the probability of its first one.
    """

    start: int
    end: int
    kept: str
    candidates: Mapping[str, float]

    @property
    def written(self) -> str:
        """What the network wrote there."""
        return next(iter(self.candidates))

    def changes(self, text: str, drift: int) -> tuple[Change, ...]:
        """What differs where ``text`` stands there; ``drift``: how much longer the target is than the source up to here."""
        found = find_changes(self.kept, text)
        return tuple(change.moved(self.start, self.start + drift) for change in found)


def find_stretches(
    source: str,
    target: str,
    produced: Produced,
    tokenizer: Tokenizer,
    accepts: Callable[[Change], bool],
) -> tuple[Stretch, ...]:
    """The stretches of ``source`` in which the network wrote something else or might have.

    ``produced``: the pass that wrote ``target``. Changes that are not accepted are in no candidate.
    """
    logs = log_softmax(produced.logits)
    ids = produced.ids
    written = find_changes(source, target)
    answers = [([change for change in written if accepts(change)], 0.0)]
    space = tokenizer.encode_target(" ")[0]
    for other, ratio in _others(ids, logs, space):
        text = tokenizer.decode(other, source)
        if len(text) + 1 == len(other):  # else there is a mark in its middle
            answers.append(([change for change in find_changes(source, text) if accepts(change)], ratio))
    original = tokenizer.encode_target(source)
    stretches = []
    for start, end in _spans(change for changes, _ in answers for change in changes):
        rows = _rows(written, start, end)
        certain = float(logs[rows, ids[rows.start : rows.stop]].sum())
        stretch = _stretch(source[start:end], start, answers, certain)
        if stretch.kept not in stretch.candidates:
            same = len(commonprefix([stretch.kept, stretch.written]))
            begun = float(logs[rows.start + same, original[start + same]])
            stretch = replace(stretch, candidates={**stretch.candidates, stretch.kept: begun})
        stretches.append(stretch)
    return tuple(stretches)


def _others(ids: list[int], logs: np.ndarray, space: int) -> Iterator[tuple[list[int], float]]:
    """The answer with one other token each, and how much more probable that is than the answer's own, as a logarithm."""
    places, tokens = divmod(np.flatnonzero(logs > math.log(LEAST_PROBABILITY)), logs.shape[1])
    others = (tokens != np.array(ids)[places]) & ~np.isin(tokens, (PAD_ID, START_ID, OUTSIDE_ID))
    found = zip(places[others].tolist(), tokens[others].tolist(), strict=True)
    rated = ((float(logs[t, token] - logs[t, ids[t]]), t, token) for t, token in found)
    for ratio, t, token in nlargest(MOST, rated):
        for other in _with(ids, t, token, space):
            yield other, ratio


def _with(ids: list[int], t: int, token: int, space: int) -> Iterator[list[int]]:
    """The answers that go on with ``token`` at place ``t``, and then as before."""
    there, before, after = ids[t], ids[:t], ids[t + 1 :]
    if END_ID in (there, token):
        if there == END_ID:
            yield [*before, token, END_ID]
        elif after == [END_ID]:  # else it would cut the sentence off
            yield [*before, END_ID]
        return
    if token == after[0]:  # then what stands there is left out
        yield [*before, *after]
    if space not in (there, token):
        yield [*before, token, *after]
    elif token != after[0]:
        yield [*before, token, there, *after]


def _spans(changes: Iterable[Change]) -> list[tuple[int, int]]:
    """The stretches that changes cover; those that touch are one."""
    spans: list[tuple[int, int]] = []
    for start, end in sorted({(change.source_start, change.source_end) for change in changes}):
        if spans and start <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], end)
        else:
            spans.append((start, end))
    return spans


def _rows(written: Sequence[Change], start: int, end: int) -> range:
    """The rows of the pass that wrote what stands for ``source[start:end]``; where that is nothing, the row that follows."""
    first = start + _growth(c for c in written if c.source_end <= start and c.source_start < start)
    size = end - start + _growth(c for c in written if start <= c.source_start and c.source_end <= end)
    return range(first, first + max(size, 1))


def _growth(changes: Iterable[Change]) -> int:
    return sum(len(change.right) - len(change.wrong) for change in changes)


def _stretch(kept: str, start: int, answers: Iterable[tuple[list[Change], float]], certain: float) -> Stretch:
    """Of each answer what it has here; ``certain``: the logarithm of the probability of what the first has here."""
    end, found = start + len(kept), {}
    for changes, ratio in answers:
        inside = [c.moved(-start, 0) for c in changes if start <= c.source_start and c.source_end <= end]
        text = apply_changes(kept, inside)
        if text not in found or (ratio and text != next(iter(found)) and certain + ratio > found[text]):
            found[text] = certain + ratio
    return Stretch(start, end, kept, found)
