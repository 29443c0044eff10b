"""Draft decoding (aggressive decoding): greedy decoding by full passes over whole drafts.

The first draft is the typed sentence.

A correction is almost the typed sentence, so that is the first draft. One pass over a draft predicts for each
place the token after the draft's tokens before it. Where a prediction differs from the draft, the draft is
repaired and read again. Once a pass agrees with its whole draft, the search is done: step-by-step decoding
would compute the same predictions. So the result is the same, token for token, and the last pass holds all of
its attention. A sentence without errors takes one pass; of sentences with errors, more than nine of ten take
three or fewer.

This is the "aggressive decoding" of Sun et al. (ACL 2021), who continue step by step from a difference until
both sentences agree again. Repairing all differences at once, as in a Jacobi iteration (Song et al., ICML
2021; Santilli et al., ACL 2023), needs neither steps nor a cache.

``settle`` decodes many rows at once. Where a pass computes only the new part of a draft, as from a graph,
``settle_ahead`` reads a draft piece by piece.

B drafts, L layers, H heads, Q query and K key positions, S source and T target tokens, A alternatives, V
vocabulary.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from model.text.tokenizer import END_ID

ALTERNATIVES = 5  # tokens of each row that a trace keeps
AHEAD, LEAST_AHEAD = 48, 4  # tokens that a pass of ``settle_ahead`` reads; most sentences have fewer
# 2.3% of sentences take more; step-by-step decoding costs about as much as these (docs/experiments.md)
PASSES = 4


class Produced(NamedTuple):
    """One decoded sentence of T tokens, and the pass over it."""

    ids: list[int]  # T, the end mark last
    logits: np.ndarray  # (T, V) float32
    attention: dict[str, np.ndarray]  # (L, H, Q, K) float32 by kind

    def log_probability(self, position: int, token_id: int) -> float:
        """In nats; -inf for an id that the network can read but not produce."""
        logits = self.logits[position].astype(np.float64)
        return float(log_softmax(logits)[token_id]) if token_id < len(logits) else -math.inf


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """(..., V) -> (..., V) natural logarithms of the probabilities.

    >>> log_softmax(np.zeros(2)).round(2).tolist()
    [-0.69, -0.69]
    """
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def read_off(produced: Produced) -> dict[str, np.ndarray]:
    """The arrays of one pass that a trace needs, by name.

    log_probabilities (T,). The ids (T, A) and probabilities (T, A) of the ALTERNATIVES most probable tokens
    of each row, the most probable first. And those kinds of attention that the network has: encoder_attention
    (L, H, S, S), decoder_attention (L, H, T, T) and cross_attention (L, H, T, S).
    """
    logs = log_softmax(produced.logits)
    rest, best = logs.copy(), np.empty((len(logs), ALTERNATIVES), int)
    for each in best.T:  # five times the highest is found sooner than all five at once
        each[:] = rest.argmax(axis=-1)
        np.put_along_axis(rest, each[:, np.newaxis], -np.inf, axis=-1)
    return {
        **produced.attention,
        "log_probabilities": logs[np.arange(len(produced.ids)), produced.ids],
        "alternative_ids": best,
        "alternative_probabilities": np.exp(np.take_along_axis(logs, best, axis=-1)),
    }


class AnyPass(Protocol):
    """A pass over B drafts: a ``Pass``, or a graph's ``GraphPass``."""

    @property
    def logits(self) -> np.ndarray: ...  # (B, T, V)

    def row(self, number: int, source: Sequence[int], ids: list[int]) -> Produced: ...


class Pass(NamedTuple):
    """The arrays of one pass over B drafts."""

    logits: np.ndarray  # (B, T, V)
    attention: dict[str, np.ndarray]  # (B, L, H, Q, K) by kind; or all taps that ``AlteredReading`` gives

    def row(self, number: int, source: Sequence[int], ids: list[int]) -> Produced:
        """The pass over one draft, with logits (T, V), without its padding.

        Only for a pass that has attention alone.
        """
        s, t = len(source), len(ids)
        shapes = {"encoder_attention": (s, s), "decoder_attention": (t, t), "cross_attention": (t, s)}
        attention = {
            kind: weights[number, :, :, : shapes[kind][0], : shapes[kind][1]]
            for kind, weights in self.attention.items()
        }
        return Produced(ids, self.logits[number, :t], attention)


class Reading(Protocol):
    """Sources whose drafts a network reads."""

    def pass_over(self, drafts: Sequence[Sequence[int]]) -> AnyPass: ...


class Readings(Reading, Protocol):
    """Several sources at once."""

    def keep(self, rows: Sequence[int]) -> None:
        """Continue with these rows only."""
        ...


def longest_target(source_length: int) -> int:
    """The most tokens that a correction may have, for S = ``source_length``.

    Room for a missing space after every third token, and for 16 more.

    >>> longest_target(6)
    24
    """
    return source_length + source_length // 3 + 16


def settle(
    reading: Readings,
    sources: Sequence[Sequence[int]],
    space_id: int,
    forced: Sequence[Sequence[int]] = (),
    first: Sequence[Sequence[int]] = (),
) -> list[Produced | None]:
    """Greedy decoding of many sources at once; None where no end mark comes in time.

    The limit is ``longest_target``.

    Each pass makes at least one more token certain.

    Args:
        space_id: where the network writes a space, the draft gets it in addition, because a space is more
            often missing than mistaken for another token.
        forced: for each row the tokens with which its correction has to begin, whatever the network prefers;
            none by default.
        first: the first drafts, by default the sources. They change the number of passes, and no answer.
    """
    answers: list[Produced | None] = [None] * len(sources)
    forced = forced or [()] * len(sources)
    # The drafts of rows without an answer yet.
    drafts = {
        row: [*start, *draft[len(start) :]]
        for row, (draft, start) in enumerate(zip(first or sources, forced, strict=True))
    }
    while drafts:
        passed, unsettled = reading.pass_over(list(drafts.values())), []
        for number, (row, draft) in enumerate(list(drafts.items())):
            predicted = passed.logits[number, : len(draft)].argmax(axis=-1).tolist()
            predicted[: len(forced[row])] = forced[row][: len(predicted)]
            written = certain_tokens(draft, predicted)
            limit = longest_target(len(sources[row]))
            if written[-1] != END_ID and len(written) < limit:
                drafts[row] = redraft(draft, predicted, space_id)[:limit]
                unsettled.append(number)
            else:
                del drafts[row]
                if written[-1] == END_ID:
                    answers[row] = passed.row(number, sources[row], written)
        if 0 < len(unsettled) < len(passed.logits):
            reading.keep(unsettled)
    return answers


def settle_ahead(reading: Reading, source: Sequence[int], space_id: int) -> Produced | None:
    """Greedy decoding of one source, for a reading that computes only the new part of a draft.

    A pass reads AHEAD tokens behind those that are certain, so the tokens after an error are not read again
    and again. Where two passes in a row find a difference, each further one reads half as far.
    """
    draft, limit = list(source), longest_target(len(source))
    certain, ahead, differing = 0, AHEAD, 0
    while certain < limit:
        near = draft[: certain + ahead]
        passed = reading.pass_over([near])
        predicted = passed.logits[0, : len(near)].argmax(axis=-1).tolist()
        written = certain_tokens(near, predicted)
        if written[-1] == END_ID:
            return passed.row(0, source, written)
        certain = len(written)
        if predicted == near:
            ahead, differing = AHEAD, 0
        else:
            draft = redraft(draft, predicted, space_id)[:limit]
            differing += 1
            if differing > 1:
                ahead = max(LEAST_AHEAD, ahead // 2)
    return None


def certain_tokens(draft: Sequence[int], predicted: Sequence[int]) -> list[int]:
    """The draft up to its first difference from the predictions, and the prediction there.

    ``predicted[t]`` is the most probable token after ``draft[:t]``.

    >>> certain_tokens([5, 6, 7], [5, 9, 7])
    [5, 9]
    """
    pairs = enumerate(zip(draft, predicted, strict=True))
    agreed = next((t for t, (drafted, token) in pairs if drafted != token), len(draft))
    return [*draft[:agreed], *predicted[agreed : agreed + 1]]


def redraft(draft: list[int], predicted: list[int], space_id: int) -> list[int]:
    """A better draft, from the predictions for the last one, or for its beginning.

    Only the first difference is certain; the later ones were predicted after a wrong token. They are still
    good guesses, because the network reads the source, too. A space where the draft has none was missing; a
    token that the network skips was too much; any other token replaces the drafted one. A poor guess costs a
    pass and changes nothing else.

    >>> redraft([7, 8, END_ID], [7, 5], space_id=5) == [7, 5, 8, END_ID]  # a space was missing
    True
    """
    better: list[int] = []
    t = 0
    while t < len(predicted):
        drafted, token = draft[t], predicted[t]
        if token in (drafted, END_ID):  # no guess may cut the rest off
            better.append(drafted)
        elif drafted == END_ID or token == space_id:
            better += [token, drafted]
        else:
            better.append(token)
            t += draft[t + 1 : t + 2] == [token]  # the network skips the drafted token
        t += 1
    better += draft[t:]
    return better if better[-1] == END_ID else [*better, END_ID]
