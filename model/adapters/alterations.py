"""Interventions on foreign attention as arrays: hidden keys, replaced weights, gates of values.

B interventions (or rows of a batch), H heads, S source and T target tokens, Q query and K key positions, D
d_model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from model.adapters.capture import MASKED
from model.trace.interventions import Intervention
from model.trace.trace import ATTENTION_KINDS

Ids = Sequence[int]
DECODER_KIND = "decoder_attention"
_TINY = 1e-30  # keeps a row that sees nothing at zeros


class AttentionSize(NamedTuple):
    """One kind of attention of a network."""

    layers: int
    heads: int


class Altering(NamedTuple):
    """Interventions on the weights (B, H, Q, K) of one layer, as arrays; None changes nothing."""

    seen: np.ndarray | None = None  # (B, 1, 1, K) False where a key is hidden
    kept: np.ndarray | None = None  # (B, H, Q, 1) 0 where ``weights`` replace the head's own
    weights: np.ndarray | None = None  # (B, H, Q, K)
    gates: np.ndarray | None = None  # (B, H, 1, K) factors of the values
    added: np.ndarray | None = None  # (B, H, 1, D/H) added to a head's output

    def of(self, weights: np.ndarray, scores: np.ndarray | None, keys: int) -> tuple[np.ndarray, np.ndarray]:
        """The weights that the pass uses and a trace shows, and the factors of the values.

        Zeroing a value, or a head, is zeroing the weights on it. Columns beyond ``keys`` are attention sinks,
        whose weight falls on no key.
        """
        if self.seen is not None:
            weights = _over_seen(weights, scores, self.seen)
        used, sink = weights[..., :keys], weights[..., keys:]
        if self.kept is not None and self.weights is not None:
            used = used * self.kept + self.weights
        working = used if self.gates is None else used * self.gates
        return np.concatenate([used, sink], -1), np.concatenate([working, sink], -1)


def _over_seen(weights: np.ndarray, scores: np.ndarray | None, seen: np.ndarray) -> np.ndarray:
    """The softmax over the keys that are ``seen``, the others 0. Rows of zeros stay so.

    A head with all its weight on a hidden key would have nothing left behind the softmax, so it is computed
    once more from its ``scores``, where they are known.
    """
    seen = np.pad(seen, [(0, 0)] * 3 + [(0, weights.shape[-1] - seen.shape[-1])], constant_values=True)
    if scores is None:
        shares = weights * seen
    else:
        seen = seen & (scores > scores.max(-1, keepdims=True) - MASKED)
        lowered = np.where(seen, scores, -np.inf)
        highest = np.nan_to_num(lowered.max(-1, keepdims=True), neginf=0)
        shares = np.exp(lowered - highest) * weights.any(-1, keepdims=True)
    return shares / (shares.sum(-1, keepdims=True) + _TINY)


def altering(
    interventions: Sequence[Intervention], sizes: Mapping[str, AttentionSize], lengths: tuple[int, int]
) -> dict[str, list[Altering]]:
    """The changes of B interventions by kind and layer, over ``lengths`` S and T.

    Raises:
        ValueError: for an intervention that the network does not have.
    """
    source, target = lengths
    shapes = dict(zip(ATTENTION_KINDS, ((source, source), (target, target), (target, source)), strict=True))
    for each in interventions:
        _check(each, sizes, source)
    return {
        kind: [
            _of_layer((kind, layer), interventions, size.heads, shapes[kind]) for layer in range(size.layers)
        ]
        for kind, size in sizes.items()
    }


def _of_layer(
    at: tuple[str, int], interventions: Sequence[Intervention], heads: int, shape: tuple[int, int]
) -> Altering:
    rows, (queries, keys) = len(interventions), shape
    seen, gates = np.ones((rows, 1, 1, keys), bool), np.ones((rows, heads, 1, keys), np.float32)
    kept = np.ones((rows, heads, queries, 1), np.float32)
    weights, added = np.zeros((rows, heads, *shape), np.float32), None
    for row, each in enumerate(interventions):
        hidden = each.without_target if at[0] == DECODER_KIND else each.without_source
        seen[row, ..., [place for place in hidden if place < keys]] = False
        for head in (head for head in each.off if head[:2] == at):
            gates[row, head.head] = 0
            if each.means is not None:
                mean = each.means[at[0]][at[1], head.head]
                added = np.zeros((rows, heads, 1, len(mean)), np.float32) if added is None else added
                added[row, head.head] = mean
        for value in each.zeroed:
            if value[:2] == at and value.position < keys:
                gates[row, :, :, value.position] = 0
        for head, given in each.weights.items():
            if head[:2] == at:
                some = np.asarray(given, np.float32)[:queries, :keys]
                replacing = np.array([not np.isnan(each).all() for each in some])
                kept[row, head.head, : len(some), 0] = ~replacing
                weights[row, head.head, : len(some), : some.shape[1]] = np.where(replacing[:, None], some, 0)
    changed = not kept.all()
    return Altering(
        None if seen.all() else seen,
        kept if changed else None,
        weights if changed else None,
        None if gates.all() else gates,
        added,
    )


def _check(intervention: Intervention, sizes: Mapping[str, AttentionSize], source: int) -> None:
    for head in (*intervention.off, *intervention.weights):
        size = sizes.get(head.kind)
        if size is None or not (0 <= head.layer < size.layers and 0 <= head.head < size.heads):
            shapes = {kind: (size.layers, size.heads) for kind, size in sizes.items()}
            raise ValueError(f"a head should be one of (layers, heads) {shapes}, received {head}")
    for value in intervention.zeroed:
        if value.kind not in sizes or not 0 <= value.layer < sizes[value.kind].layers:
            raise ValueError(f"a zeroed value should lie in a layer of the network, received {value}")
    _check_places(intervention, source)
    for head, rows in intervention.weights.items():
        if head.kind == DECODER_KIND and np.triu(np.nan_to_num(rows), 1).any():
            raise ValueError(f"weights of {head} should be 0 right of the diagonal")
        if head.kind != DECODER_KIND and np.shape(rows)[1] != source:
            raise ValueError(f"weights of {head} should be (Q, {source}), received {np.shape(rows)}")


def _check_places(intervention: Intervention, source: int) -> None:
    if places := [place for place in intervention.without_source if not 0 <= place < source]:
        raise ValueError(f"what is left out should lie in 0..{source - 1}, received {places[0]}")


def in_sequence(intervention: Intervention, prompt: int) -> Intervention:
    """The same intervention where prompt and continuation are one sequence, without the start mark at 0.

    >>> sorted(in_sequence(Intervention(without_source={1}, without_target={0, 2}), prompt=3).without_target)
    [1, 4]
    """
    _check_places(intervention, prompt)
    written = {prompt + place - 1 for place in intervention.without_target if place}
    return replace(
        intervention,
        without_source=frozenset(),
        without_target=frozenset(intervention.without_source) | written,
    )
