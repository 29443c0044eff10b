"""What interventions make of the weights of one attention, in any library: sums and products of tensors alone.

B interventions, L layers, H heads, S source and T target tokens, Q query and K key positions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from model.activations.replacements import alterations
from model.adapters.own_network import AttentionSizes
from model.trace.interventions import Intervention

_TINY = 1e-30  # keeps a row that sees nothing at zeros


class Altering(NamedTuple):
    """What becomes of the weights (B, H, Q, K) of one layer. None changes nothing."""

    seen: np.ndarray | None  # (B, 1, 1, K) 0 where a key is hidden; the rest of the row is scaled to sum to 1
    kept: np.ndarray | None  # (B, H, Q, 1) 0 where ``weights`` stand in place of the head's own
    weights: np.ndarray | None  # (B, H, Q, K)
    gates: np.ndarray | None  # (B, H, 1, K) what the values behind the weights are multiplied by
    added: np.ndarray | None  # (B, H, 1, D/H) what is added to a head's output

    def used(self, weights: Any, tensor: Callable[[np.ndarray], Any], sink: Any = 0) -> Any:
        """The weights that the pass uses, and that a trace shows. What nobody may look at was hidden before the softmax, where the library
        lets it: a head that looked at nothing else would have nothing left. ``sink`` (B, H, Q, 1): what falls on no key."""
        if self.seen is not None:
            weights = weights * tensor(self.seen)
            keys = np.ones((weights.shape[-1], 1), np.float32)
            weights = weights / (weights @ tensor(keys) + sink + _TINY)
        if self.kept is not None and self.weights is not None:
            weights = weights * tensor(self.kept) + tensor(self.weights)
        return weights

    def working(self, used: Any, tensor: Callable[[np.ndarray], Any]) -> Any:
        """What the values are multiplied by: zeroing a value, or a head, is zeroing the weights on it."""
        return used if self.gates is None else used * tensor(self.gates)


def altering(
    interventions: Sequence[Intervention], sizes: Mapping[str, AttentionSizes], source: int, target: int
) -> dict[str, list[Altering]]:
    """For each kind and layer what B interventions change in it, over S = ``source`` and T = ``target`` tokens.

    Raises ValueError for an intervention that the network does not have.
    """
    lengths = {
        "encoder_attention": (source, source),
        "decoder_attention": (target, target),
        "cross_attention": (target, source),
    }
    for each in interventions:
        _check(each, sizes, source)
    return {kind: _of_kind(kind, interventions, size, lengths[kind]) for kind, size in sizes.items()}


def _of_kind(
    kind: str, interventions: Sequence[Intervention], size: AttentionSizes, length: tuple[int, int]
) -> list[Altering]:
    found = (alterations(list(interventions), size, {kind: length}).attention or {})[kind]  # type: ignore[arg-type]
    hidden = _hidden(kind, interventions, length[1])
    layers = []
    for number in range(size.attention_layers):
        one = found.layer(number)
        seen = None if hidden is None else hidden[:, None, None]
        gates = None
        if one.gates is not None or one.values is not None:
            heads = np.ones((1, 1), np.float32) if one.gates is None else one.gates  # (B, H)
            values = np.ones((1, length[1]), np.float32) if one.values is None else one.values  # (B, K)
            gates = heads[:, :, None, None] * values[:, None, None]
        kept = None if one.replaced is None else 1 - one.replaced[..., None].astype(np.float32)
        added = None if one.added is None else one.added[:, :, None]
        layers.append(Altering(seen, kept, one.weights, gates, added))
    return layers


def _hidden(kind: str, interventions: Sequence[Intervention], keys: int) -> np.ndarray | None:
    """(B, K) 0 where nobody may look."""
    sides = [
        each.without_target if kind == "decoder_attention" else each.without_source for each in interventions
    ]
    if not any(sides):
        return None
    seen = np.ones((len(sides), keys), np.float32)
    for row, places in enumerate(sides):
        seen[row, [place for place in places if place < keys]] = 0
    return seen


def embedding_factors(interventions: Sequence[Intervention], target: int) -> np.ndarray | None:
    """(B, T) 0 for what is left out of the target: a row begins with the token that it has just read."""
    if not any(each.without_target for each in interventions):
        return None
    factors = np.ones((len(interventions), target), np.float32)
    for row, each in enumerate(interventions):
        factors[row, [place for place in each.without_target if place < target]] = 0
    return factors


def in_sequence(intervention: Intervention, prompt: int) -> Intervention:
    """The same where prompt and written tokens are one sequence. The start mark, which is left out at 0, is not there.

    >>> sorted(in_sequence(Intervention(without_source={1}, without_target={0, 2}), prompt=3).without_target)
    [1, 4]
    """
    if places := [place for place in intervention.without_source if not 0 <= place < prompt]:
        raise ValueError(f"what is left out should lie in 0..{prompt - 1}, received {places[0]}")
    written = {prompt + place - 1 for place in intervention.without_target if place}
    return replace(
        intervention,
        without_source=frozenset(),
        without_target=frozenset(intervention.without_source) | written,
    )


def _check(intervention: Intervention, sizes: Mapping[str, AttentionSizes], source: int) -> None:
    for head in (*intervention.off, *intervention.weights):
        size = sizes.get(head.kind)
        if size is None or not (0 <= head.layer < size.attention_layers and 0 <= head.head < size.num_heads):
            shapes = {kind: (size.attention_layers, size.num_heads) for kind, size in sizes.items()}
            raise ValueError(f"a head should be one of (layers, heads) {shapes}, received {head}")
    for zeroed in intervention.zeroed:
        if zeroed.kind not in sizes or not 0 <= zeroed.layer < sizes[zeroed.kind].attention_layers:
            raise ValueError(f"a zeroed value should lie in a layer of the network, received {zeroed}")
    if places := [place for place in intervention.without_source if not 0 <= place < source]:
        raise ValueError(f"what is left out should lie in 0..{source - 1}, received {places[0]}")
    for head, rows in intervention.weights.items():
        if head.kind == "decoder_attention" and np.triu(np.nan_to_num(rows), 1).any():
            raise ValueError(f"weights of {head} should be 0 right of the diagonal")
        if head.kind != "decoder_attention" and np.shape(rows)[1] != source:
            raise ValueError(f"weights of {head} should be (Q, {source}), received {np.shape(rows)}")
