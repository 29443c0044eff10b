"""The fast search. A correction is almost what was typed, so the typed sentence is used as the first draft.

One pass over a draft tells for each place what the network would write after the draft's tokens before it. If that is
what stands there, nothing has to be decided. If it is not, the draft is repaired and the network reads it again. Once a
pass agrees with its whole draft, the search is done: step-by-step decoding would have asked the same questions and got the
same answers. So the result is the same as that of ``decoding.greedy``, token for token, and the last pass holds all of its
attention. A sentence without errors takes one pass. Of sentences with errors, more than nine of ten take three or fewer
(docs/experiments.md).

This is the "aggressive decoding" of Sun et al. (ACL 2021), who go on step by step from a difference until both
sentences agree again. Repairing all differences at once, as in a Jacobi iteration (Song et al., ICML 2021;
Santilli et al., ACL 2023), needs neither steps nor a cache.

Some inputs, such as a rare syllable a hundred times, would be repaired by one token in each pass. So after PASSES passes
step-by-step decoding finishes the sentence. The text is the same, and the time is bounded.

Where a pass computes only what is new in a draft, as from a graph, ``settle_ahead`` reads a draft piece by piece.
"""

import math
from collections.abc import Callable, Sequence
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
        """Natural logarithm; -inf for an id that the network can read but not produce."""
        logits = self.logits[position].astype(np.float64)
        return float(log_softmax(logits)[token_id]) if token_id < len(logits) else -math.inf


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """(..., V) -> (..., V) natural logarithms of the probabilities."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def read_off(produced: Produced) -> dict[str, np.ndarray]:
    """What a trace needs of one pass, by name.

    log_probabilities (T,). The ids (T, A) and probabilities (T, A) of the ALTERNATIVES most probable tokens of each row, the most
    probable first. And those kinds of attention that the network has: encoder_attention (L, H, S, S), decoder_attention
    (L, H, T, T) and cross_attention (L, H, T, S).
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
    """What ``settle`` needs of a pass over B drafts: a ``Pass``, or a graph's ``GraphPass``."""

    @property
    def logits(self) -> np.ndarray: ...  # (B, T, V)

    def row(self, number: int, source: Sequence[int], ids: list[int]) -> Produced: ...


class Pass(NamedTuple):
    """What one pass over B drafts found."""

    logits: np.ndarray  # (B, T, V)
    attention: dict[str, np.ndarray]  # (B, L, H, Q, K) by kind; or all taps that ``AlteredReading`` gives

    def row(self, number: int, source: Sequence[int], ids: list[int]) -> Produced:
        """The pass over one draft, without its padding. Only for a pass that has attention alone."""
        s, t = len(source), len(ids)
        shapes = {"encoder_attention": (s, s), "decoder_attention": (t, t), "cross_attention": (t, s)}
        attention = {
            kind: weights[number, :, :, : shapes[kind][0], : shapes[kind][1]]
            for kind, weights in self.attention.items()
        }
        return Produced(ids, self.logits[number, :t], attention)


class Reading(Protocol):
    """Some sources, encoded once, for all passes over drafts of their corrections."""

    def pass_over(self, drafts: Sequence[Sequence[int]]) -> AnyPass: ...

    def keep(self, rows: Sequence[int]) -> None: ...


def longest_target(source_length: int) -> int:
    """How many tokens a correction may have: room for a missing space after every third token, and for 16 more. ``source_length``
    may be a scalar tensor, too."""
    return source_length + source_length // 3 + 16


# (sources, of each the tokens that its correction certainly begins with) -> the ids of each, None without an end mark
Finish = Callable[[list[Sequence[int]], list[list[int]]], list[list[int] | None]]


def settle(
    reading: Reading,
    sources: Sequence[Sequence[int]],
    space_id: int,
    finish: Finish | None = None,
    forced: Sequence[Sequence[int]] = (),
    most_passes: int = PASSES,
) -> list[Produced | None]:
    """The correction of each of the ``sources`` that ``reading`` has encoded; None where no end mark comes
    within ``longest_target``.

    ``space_id``: where the network writes a space, the draft gets it in addition, because a space is more often missing than
    mistaken for another token. Each pass makes at least one more token certain. ``finish`` decodes step by step what is not certain
    after ``most_passes``; without it there are as many passes as it takes. ``forced``: for each row the tokens that its correction
    has to begin with, whatever the network says; none by default.
    """
    answers: list[Produced | None] = [None] * len(sources)
    forced = forced or [()] * len(sources)
    # The drafts of rows without an answer yet.
    drafts = {
        row: [*start, *source[len(start) :]]
        for row, (source, start) in enumerate(zip(sources, forced, strict=True))
    }
    certain: dict[int, list[int]] = {}
    passes = 0
    while drafts and (finish is None or passes < most_passes):
        looked, unsettled = reading.pass_over(list(drafts.values())), []
        passes += 1
        for number, (row, draft) in enumerate(list(drafts.items())):
            said = looked.logits[number, : len(draft)].argmax(axis=-1).tolist()
            said[: len(forced[row])] = forced[row][: len(said)]
            written = certain_tokens(draft, said)
            limit = longest_target(len(sources[row]))
            if written[-1] != END_ID and len(written) < limit:
                certain[row] = written
                drafts[row] = redraft(draft, said, space_id)[:limit]
                unsettled.append(number)
            else:
                del drafts[row]
                if written[-1] == END_ID:
                    answers[row] = looked.row(number, sources[row], written)
        if 0 < len(unsettled) < len(looked.logits):
            reading.keep(unsettled)
    if drafts and finish is not None:  # without ``finish`` the loop leaves no draft
        decoded = finish([sources[row] for row in drafts], [certain[row] for row in drafts])
        _fill_in(answers, reading, sources, list(drafts), decoded)
    return answers


def settle_ahead(reading: Reading, source: Sequence[int], space_id: int) -> Produced | None:
    """What ``settle`` finds for one source, for a reading whose passes compute only what is new in a draft.

    A pass reads AHEAD tokens behind those that are certain, so what follows an error is not read again and again. Where two passes in a
    row find a difference, each further one reads half as far.
    """
    draft, limit = list(source), longest_target(len(source))
    certain, ahead, differing = 0, AHEAD, 0
    while certain < limit:
        near = draft[: certain + ahead]
        looked = reading.pass_over([near])
        said = looked.logits[0, : len(near)].argmax(axis=-1).tolist()
        written = certain_tokens(near, said)
        if written[-1] == END_ID:
            return looked.row(0, source, written)
        certain = len(written)
        if said == near:
            ahead, differing = AHEAD, 0
        else:
            draft = redraft(draft, said, space_id)[:limit]
            differing += 1
            if differing > 1:
                ahead = max(LEAST_AHEAD, ahead // 2)
    return None


def _fill_in(
    answers: list[Produced | None],
    reading: Reading,
    sources: Sequence[Sequence[int]],
    rows: list[int],
    decoded: list[list[int] | None],
) -> None:
    """Put the answers of ``rows``, which ``reading`` has kept, into ``answers``. One more pass over their ids gives the logits."""
    ended = {number: ids for number, ids in enumerate(decoded) if ids is not None}
    if not ended:
        return
    if len(ended) < len(rows):
        reading.keep(list(ended))
    looked = reading.pass_over(list(ended.values()))
    for place, (number, ids) in enumerate(ended.items()):
        answers[rows[number]] = looked.row(place, sources[rows[number]], ids)


def certain_tokens(draft: Sequence[int], said: Sequence[int]) -> list[int]:
    """The tokens that step-by-step decoding writes: the draft up to the first difference, and what the
    network said there. ``said[t]`` is its most probable token after ``draft[:t]``."""
    pairs = enumerate(zip(draft, said, strict=True))
    agreed = next((t for t, (drafted, token) in pairs if drafted != token), len(draft))
    return [*draft[:agreed], *said[agreed : agreed + 1]]


def redraft(draft: list[int], said: list[int], space_id: int) -> list[int]:
    """A better draft, from what the network ``said`` about the last one, or about its beginning.

    Only the first difference is certain; the later ones were said after a wrong token. They are still good guesses,
    because the network reads the source, too. A space where the draft has none was missing; a token that the network skips was
    too much; any other token replaces the one that stands there. A poor guess costs a pass and changes nothing else.
    """
    better: list[int] = []
    t = 0
    while t < len(said):
        drafted, token = draft[t], said[t]
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
