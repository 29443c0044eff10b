"""Checks what a pass is asked to change and to hand out, and turns interventions into arrays.

An ``Altered`` is a tree of arrays, stacked over layers: gates for heads, means that are added, replaced weights, factors for
values, hidden keys. ``encode`` and ``decode`` take it as an argument; without an intervention it is None. One graph is made for each
set of arrays that occurs.

``embedding_scale``, one factor for each token's embedding, serves three purposes. With 0 a decoder token is left out. The derivative by
it is gradient × input. Its integral from 0 to 1 is integrated gradients, with a baseline that has positions but no tokens.

B interventions (or sentences), L layers, H heads, S source and T target tokens, Q query and K key positions, D d_model.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from model.stored.config import NetworkConfig
from model.trace.interventions import Head, Intervention

_ROW_TOLERANCE = 1e-3

Interventions = Sequence[Intervention]
Heads = tuple[int, int, int]  # (B, L, H)


def every_head(config: NetworkConfig) -> tuple[Head, ...]:
    """All heads of a network: kind by kind, layer by layer."""
    return tuple(
        Head(kind, layer, head)
        for kind in config.attention_kinds
        for layer in range(config.attention_layers)
        for head in range(config.num_heads)
    )


def check(intervention: Intervention, config: NetworkConfig, source_length: int) -> None:
    """Raise ValueError for an intervention that does not fit the network or a sentence of S = ``source_length`` tokens.

    It may name unknown heads, have means or weights of other shapes, or rows that are no distribution. A sentence that is longer
    than the network can read is refused, too.
    """
    if source_length - 1 > config.max_length:  # the end mark is no character
        raise ValueError(f"a sentence may have {config.max_length} characters, received {source_length - 1}")
    known = set(every_head(config))
    if strange := sorted({*intervention.off, *intervention.weights} - known):
        raise ValueError(f"a head should be one of the network's {len(known)}, received {strange[0]}")
    lanes = {(head.kind, head.layer) for head in known}
    if odd := sorted(z for z in intervention.zeroed if (z.kind, z.layer) not in lanes or z.position < 0):
        raise ValueError(f"a zeroed value should lie in a layer of the network, received {odd[0]}")
    if places := [p for p in intervention.without_source if not 0 <= p < source_length]:
        raise ValueError(f"what is left out should lie in 0..{source_length - 1}, received {places[0]}")
    if places := [p for p in intervention.without_target if p < 0]:
        raise ValueError(f"what is left out should lie at 0 or later, received {places[0]}")
    if intervention.means is not None:
        expected = (config.attention_layers, config.num_heads, config.d_model // config.num_heads)
        for kind in {head.kind for head in intervention.off}:
            means = intervention.means.get(kind)
            received = () if means is None else np.shape(means)
            if received != expected:
                raise ValueError(f"means of {kind} should have the shape {expected}, received {received}")
    for head, rows in intervention.weights.items():
        _check_rows(head, np.asarray(rows), source_length)


def _check_rows(head: Head, rows: np.ndarray, source_length: int) -> None:
    in_decoder = head.kind == "decoder_attention"
    if rows.ndim != 2 or (not in_decoder and rows.shape[1] != source_length):
        expected = "(Q, K)" if in_decoder else f"(Q, {source_length})"
        raise ValueError(f"weights of {head} should be {expected}, received {rows.shape}")
    if in_decoder and np.triu(np.nan_to_num(rows), 1).any():
        raise ValueError(f"weights of {head} should be 0 right of the diagonal")
    given = rows[~np.isnan(rows).all(axis=1)]
    if not (given >= 0).all() or (np.abs(given.sum(axis=1) - 1) > _ROW_TOLERANCE).any():
        raise ValueError(f"each row of weights of {head} should be 0 or more and sum to 1, or all be NaN")


class AlteredAttention(NamedTuple):
    """What interventions make of one kind of attention, as arrays. A part that is None changes nothing.

    B may be 1: then all sentences of a batch are treated alike. ``layer`` takes one layer's part, without the axis L.
    """

    seen: Any = None  # (B, L, K) bool, False where no query may look
    replaced: Any = None  # (B, L, H, Q) bool, True where ``weights`` stand in place of the head's own
    weights: Any = None  # (B, L, H, Q, K)
    values: Any = None  # (B, L, K) what each value vector is multiplied by
    gates: Any = None  # (B, L, H) what each head's output is multiplied by
    added: Any = None  # (B, L, H, D/H) what is then added to each head's output

    def layer(self, number: int) -> "AlteredAttention":
        """(B, L, …) -> (B, …)."""
        return AlteredAttention(*(None if part is None else part[:, number] for part in self))


class Altered(NamedTuple):
    """What interventions make of one half of a network: an argument of its ``encode`` or ``decode``."""

    attention: dict[str, AlteredAttention] | None = None  # by kind
    embedding_scale: Any = None  # (B, S) or (B, T), what the embedding of each token is multiplied by


def alterations(
    interventions: Interventions, config: NetworkConfig, sizes: Mapping[str, tuple[int, int]]
) -> Altered:
    """The arrays of B interventions, for the half of a network whose kinds of attention have these ``sizes``: (Q, K) of
    each kind, padding included.

    Where all ``interventions`` are one and the same object the arrays have B = 1.
    """
    if all(each is interventions[0] for each in interventions):
        interventions = interventions[:1]
    shape = (len(interventions), config.attention_layers, config.num_heads)
    embedding_scale = _embedding_scale(interventions, sizes)
    attention = {}
    for kind, size in sizes.items():
        replaced, weights = _replaced(interventions, kind, shape, size)
        gates, added = _gates(interventions, kind, shape, config.d_model // config.num_heads)
        values = _values(interventions, kind, shape, size[1])
        seen = _seen(kind, embedding_scale, config.attention_layers)
        attention[kind] = AlteredAttention(seen, replaced, weights, values, gates, added)
    return Altered(attention, embedding_scale)


def _gates(
    interventions: Interventions, kind: str, shape: Heads, depth: int
) -> tuple[np.ndarray | None, np.ndarray | None]:
    gates = np.ones(shape, np.float32)  # (B, L, H)
    added = np.zeros((*shape, depth), np.float32)  # (B, L, H, D/H)
    for row, each in enumerate(interventions):
        for head in each.off:
            if head.kind == kind:
                gates[row, head.layer, head.head] = 0
                if each.means is not None:
                    added[row, head.layer, head.head] = each.means[kind][head.layer, head.head]
    return None if gates.all() else gates, added if added.any() else None


def _replaced(
    interventions: Interventions, kind: str, shape: Heads, size: tuple[int, int]
) -> tuple[np.ndarray | None, np.ndarray | None]:
    if not any(head.kind == kind for each in interventions for head in each.weights):
        return None, None
    replaced, weights = np.zeros((*shape, size[0]), bool), np.zeros((*shape, *size), np.float32)
    for row, each in enumerate(interventions):
        for head, rows in each.weights.items():
            if head.kind == kind:
                given = np.asarray(rows, np.float32)[: size[0], : size[1]]
                standing = np.logical_not(np.isnan(given).all(axis=1))
                replaced[row, head.layer, head.head, : len(given)] = standing
                place = weights[row, head.layer, head.head]
                place[: len(given), : given.shape[1]] = np.where(standing[:, None], given, 0)
    return replaced, weights


def _values(interventions: Interventions, kind: str, shape: Heads, keys: int) -> np.ndarray | None:
    values = np.ones((*shape[:2], keys), np.float32)  # (B, L, K)
    for row, each in enumerate(interventions):
        for zeroed in each.zeroed:
            if zeroed.kind == kind and zeroed.position < keys:
                values[row, zeroed.layer, zeroed.position] = 0
    return None if values.all() else values


def _embedding_scale(interventions: Interventions, sizes: Mapping[str, tuple[int, int]]) -> np.ndarray | None:
    # A source token that is left out is padding to the encoder, and so to the decoder, which reads the memory.
    if "decoder_attention" not in sizes or not any(each.without_target for each in interventions):
        return None
    embedding_scale = np.ones((len(interventions), sizes["decoder_attention"][1]), np.float32)  # (B, T)
    for row, each in enumerate(interventions):
        embedding_scale[
            row, [position for position in each.without_target if position < embedding_scale.shape[1]]
        ] = 0
    return embedding_scale


def _seen(kind: str, embedding_scale: np.ndarray | None, layers: int) -> np.ndarray | None:
    """(B, L, K), True where a key may be looked at. A token without an embedding may not."""
    if kind != "decoder_attention" or embedding_scale is None:
        return None
    return np.repeat(embedding_scale[:, None] > 0, layers, axis=1)


def checked_taps(names: Iterable[str], config: NetworkConfig) -> tuple[str, ...]:
    """``names``, each once. Raises ValueError with those that a network of this config does not have."""
    wanted = tuple(dict.fromkeys(names))
    if lacking := [name for name in wanted if name not in config.taps]:
        raise ValueError(f"a {config.architecture} has no taps {lacking}, it has {[*config.taps]}")
    return wanted
