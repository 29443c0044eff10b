"""The laboratory's questions to a ``model.InterveningModel``: the same answers as of ours, from traces alone.

What a network would write instead is asked with a second pass, over the text without the change. S source tokens,
T target tokens, Q query and K key positions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import OwnModelError
from engine.spans import Span, nearest
from engine.traced import TracedCorrector
from model.analysis.contributions import Contribution
from model.analysis.edits import attention_to_edit, row_positions
from model.analysis.head_effects import HeadEffects, Without
from model.analysis.places import changes_in_tokens
from model.analysis.questions import Odds, Question
from model.analysis.replacing import (
    COPY,
    OBSERVED,
    PAINTED,
    PERMUTED,
    UNIFORM,
    Replaced,
    painted_row,
    permuted_rows,
    row_of_question,
)
from model.text.changes import Change, find_rewriting
from model.trace.interventions import Head, Intervention
from model.trace.trace import AttentionTrace

NO_ID = -1  # of tokens that are known by their names alone


@dataclass(frozen=True)
class Asked:
    """One change, in tokens, and what its first row writes instead where it is not made."""

    corrector: TracedCorrector
    source: str
    target: str
    kept: str  # the target without the change
    trace: AttentionTrace
    change: Change
    changes: tuple[Change, ...]  # all of them, in tokens
    question: Question

    def odds(self, interventions: Sequence[Intervention]) -> Odds:
        """The answers to the question under B interventions, in two passes each."""
        logs = [[self._log(target, each) for each in interventions] for target in (self.target, self.kept)]
        return Odds(*np.array(logs, np.float32))

    def _log(self, target: str, intervention: Intervention) -> float:
        trace = self.corrector.trace_under(self.source, target, intervention)
        if trace.log_probabilities is None:
            raise OwnModelError(f"{self.corrector.name}: trace_under should return log_probabilities")
        return float(trace.log_probabilities[self.question.row])

    def heads(self) -> tuple[Head, ...]:
        return tuple(Head(k, *place) for k in self.trace.kinds for place in np.ndindex(self.trace.shape(k)))


def ask_about(corrector: TracedCorrector, source: str, target: str, span: Span) -> Asked:
    """The question about the change whose source tokens are at ``span``, or nearest to it.

    Raises ValueError where nothing changes, OwnModelError where the tokens are the same with and without the change.
    """
    trace = corrector.trace(source, target)
    plain = find_rewriting(source, target)
    placed = changes_in_tokens(trace, plain) or ()
    change = nearest(placed, span)
    each = plain[placed.index(change)]
    kept = target[: each.target_start] + each.wrong + target[each.target_end :]
    tokens = trace.target_tokens, corrector.trace(source, kept).target_tokens
    for row, (one, other) in enumerate(zip(*tokens, strict=False)):
        if one != other:
            question = Question(row, NO_ID, NO_ID, one, other)
            return Asked(corrector, source, target, kept, trace, change, placed, question)
    # Such as <unk> for both.
    raise OwnModelError(f"{corrector.name}: trace: target_tokens are the same with and without the change")


def head_effects(corrector: TracedCorrector, source: str, target: str, span: Span) -> HeadEffects:
    """Each head is removed in turn."""
    asked = ask_about(corrector, source, target, span)
    heads = asked.heads()
    odds = asked.odds([Intervention(), *(Intervention(off=frozenset([head])) for head in heads)])
    shares = [
        attention_to_edit(asked.trace, k, asked.change, asked.changes).share.ravel()
        for k in asked.trace.kinds
    ]
    return HeadEffects(
        question=asked.question,
        heads=heads,
        observed=float(odds.log_odds[0]),
        observed_fix=float(np.exp(odds.log_written[0])),
        without=odds.log_odds[1:],
        fix_without=np.exp(odds.log_written[1:]),
        attention=np.concatenate(shares),
    )


def written_without(
    corrector: TracedCorrector, source: str, sets: tuple[tuple[tuple, ...], ...]
) -> tuple[Without, ...]:
    """What is written without each of these sets of heads."""
    named = [frozenset(Head(*head) for head in heads) for heads in sets]
    return tuple(Without(each, corrector.correct_under(source, Intervention(off=each))) for each in named)


def fix_without(
    corrector: TracedCorrector, source: str, target: str, span: Span, sets: tuple[tuple[tuple, ...], ...]
) -> tuple[float, ...]:
    """How probable the change is without each of these sets of heads."""
    off = [Intervention(off=frozenset(Head(*head) for head in heads)) for heads in sets]
    return tuple(np.exp(ask_about(corrector, source, target, span).odds(off).log_written).tolist())


def contributions(corrector: TracedCorrector, source: str, target: str, span: Span):
    """(row, the methods for which a trace suffices, what they say)."""
    asked = ask_about(corrector, source, target, span)
    row, length = asked.question.row, len(asked.trace.source_tokens)
    gone = [Intervention(without_source=frozenset([place])) for place in range(length)]
    gone += [Intervention(without_target=frozenset([place])) for place in range(row + 1)]
    odds = asked.odds([Intervention(), *gone]).log_odds
    lost = odds[0] - odds[1:]
    reference = Contribution("occlusion", lost[:length], lost[length:], signed=True)
    decoder = np.zeros((1, 1, row + 1, row + 1), np.float32)  # of a model without attention there
    if "decoder_attention" in asked.trace.kinds:
        decoder = asked.trace.attention("decoder_attention")
    sides = [
        each[:, :, row].mean(axis=(0, 1)) / 2 for each in (asked.trace.attention("cross_attention"), decoder)
    ]
    raw = Contribution("attention", sides[0], sides[1][: row + 1], signed=False)
    return row, (raw.method, reference.method), (raw, reference)


def replaced(
    corrector: TracedCorrector,
    source: str,
    target: str,
    span: Span,
    head: tuple[str, int, int],
    painted: tuple[int, ...],
) -> tuple[Question, tuple[Replaced, ...]]:
    """The head as it is, and with other weights."""
    asked, named = ask_about(corrector, source, target, span), Head(*head)
    interventions = [(OBSERVED, Intervention())]
    for how, weights in other_weights(asked, named, painted).items():
        interventions.append((how, Intervention(weights={named: weights})))
    odds = asked.odds([each for _, each in interventions])
    return asked.question, tuple(
        Replaced(
            how,
            how != OBSERVED,
            corrector.trace_under(source, target, each).attention(named.kind)[named.layer, named.head],
            float(np.exp(odds.log_written[number])),
            float(np.exp(odds.log_instead[number])),
            corrector.correct_under(source, each),
        )
        for number, (how, each) in enumerate(interventions)
    )


def other_weights(asked: Asked, head: Head, painted: Sequence[int]) -> dict[str, np.ndarray]:
    """(Q, K) float32 by name; a row that is not replaced is NaN."""
    kind, trace = head.kind, asked.trace
    rows, keys = trace.attention(kind).shape[2:]
    even = np.ones((rows, keys), np.float32)
    even = np.tril(even) if kind == "decoder_attention" else even
    places = row_positions(trace, kind, asked.changes)
    copy = np.where(places[:, None] >= 0, np.eye(keys, dtype=np.float32)[places], np.float32(np.nan))
    found = {
        UNIFORM: even / even.sum(axis=1, keepdims=True),
        COPY: copy,
        PERMUTED: permuted_rows(trace, head),
    }
    row = row_of_question(kind, asked.question.row, asked.change)
    seen = [key for key in painted if 0 <= key < (row + 1 if kind == "decoder_attention" else keys)]
    if seen:
        found[PAINTED] = painted_row(trace, kind, row, np.bincount(seen, minlength=keys))
    return found


QUESTIONS: dict[str, Callable[..., Any]] = {
    "head_effects": head_effects,
    "written_without": written_without,
    "fix_without": fix_without,
    "contributions": contributions,
    "replaced": replaced,
}
