"""Replacements of activations by name, and interventions turned into them, with their checks.

L layers, H heads, S source and T target tokens, Q query and K key positions, D d_model.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from model.activations.sublayers import Sublayers, kind_side
from model.stored.config import NetworkConfig
from model.text.tokenizer import PAD_ID
from model.trace.interventions import (
    EVERYWHERE,
    FEED_FORWARDS,
    SUBLAYERS,
    Computed,
    Head,
    Intervention,
    Node,
    Patches,
)

_SHORT = {"encoder_attention": "self", "decoder_attention": "self", "cross_attention": "cross"}

Function = Callable[[np.ndarray], np.ndarray]


class At(NamedTuple):
    """A replacement of some positions."""

    value: np.ndarray | float  # of one position, or of each of ``positions``
    positions: int | slice


Replacement = np.ndarray | float | Function | At | Computed
Replacements = Mapping[str, Replacement]  # by the name of an activation


def activation_name(stacked: str, place: int | tuple[int, int]) -> str:
    """The name of one activation in a stacked array of ``model.trace.interventions``.

    >>> activation_name("cross_heads", (2, 1)), activation_name("decoder_residual", 5)
    ('decoder.2.cross.head.1', 'decoder.1.cross.residual')
    >>> activation_name("decoder_output", 11), activation_name("encoder_residual", 4)
    ('decoder.3.mlp', 'encoder.2.residual')
    """
    of, _, part = stacked.rpartition("_")
    if isinstance(place, tuple):
        return f"{sublayer_name(f'{of}_attention', place[0])}.head.{place[1]}"
    layer, number = divmod(place, len(SUBLAYERS[of]))
    if part == "residual":
        return (
            f"{sublayer_name(SUBLAYERS[of][number - 1], layer)}.residual"
            if number
            else f"{of}.{layer}.residual"
        )
    return output_name(SUBLAYERS[of][number], layer)


def replacements_of(patches: Patches) -> dict[str, Replacement]:
    """Patches by the names of the activations that they replace."""
    return {
        activation_name(each.tap, each.place): each.value
        if isinstance(each.value, Computed) or each.positions == EVERYWHERE
        else At(each.value, each.positions)
        for each in patches
    }


def sublayer_name(kind: str, layer: int) -> str:
    """The name with which those of the activations of a sub-layer begin.

    >>> sublayer_name("cross_attention", 2), sublayer_name("encoder_feed_forward", 0)
    ('decoder.2.cross', 'encoder.0.mlp')
    """
    return f"{kind_side(kind)}.{layer}.{_SHORT.get(kind, 'mlp')}"


def output_name(kind: str, layer: int) -> str:
    """The name of the output of a sub-layer.

    >>> output_name("cross_attention", 2), output_name("encoder_feed_forward", 0)
    ('decoder.2.cross.output', 'encoder.0.mlp')
    """
    name = sublayer_name(kind, layer)
    return f"{name}.output" if kind in _SHORT else name


def kernel_name(side: str, layer: int) -> str:
    """The name of the output matrix of a feed-forward network, whose replacement returns an addition.

    >>> kernel_name("decoder", 3)
    'decoder.3.mlp.kernel'
    """
    return f"{side}.{layer}.mlp.kernel"


_ROW_TOLERANCE = 1e-3  # by which the sum of a row of replaced weights may differ from 1


def intervened(intervention: Intervention, network: Sublayers) -> dict[str, Replacement]:
    """The replacements by which ``network`` carries out an intervention.

    >>> intervention = Intervention(off={("cross_attention", 3, 0)}, without_target={2})
    >>> sorted(intervened(intervention, corrector.patched))
    ['decoder.3.cross.head.0', 'decoder.embedding', 'decoder.mask']
    """
    found: dict[str, Replacement] = {}
    for head in intervention.off:
        mean = 0.0 if intervention.means is None else intervention.means[head.kind][head.layer, head.head]
        found[f"{sublayer_name(head.kind, head.layer)}.head.{head.head}"] = mean
    for head, rows in intervention.weights.items():
        found[f"{sublayer_name(head.kind, head.layer)}.attention.{head.head}"] = given_rows(rows)
    for kind, layer in {(each.kind, each.layer) for each in intervention.zeroed}:
        positions = [
            each.position for each in intervention.zeroed if (each.kind, each.layer) == (kind, layer)
        ]
        found[f"{sublayer_name(kind, layer)}.value"] = constant_at(positions, 0.0, axis=1)
    if intervention.without_source:
        # A source token that is left out is padding to the encoder, and so to the decoder, which reads the
        # memory.
        padding = network.stream_start([PAD_ID])[0] - network.positions(1, "encoder")[0]
        found["encoder.embedding"] = constant_at(intervention.without_source, padding)
        found["encoder.mask"] = constant_at(intervention.without_source, False)
    if intervention.without_target:
        found["decoder.embedding"] = constant_at(intervention.without_target, 0.0)
        found["decoder.mask"] = constant_at(intervention.without_target, False)
    for edit in intervention.kernels:
        found[kernel_name(edit.node.side, edit.node.layer)] = edit.added
    return found


def constant_at(positions: Iterable[int], value: np.ndarray | float, axis: int = 0) -> Function:
    """A function that writes ``value`` at some ``positions`` along one axis of an activation.

    >>> constant_at([1, 9], 0.0)(np.array([5.0, 6.0])).tolist()
    [5.0, 0.0]
    """

    def replace(activation: np.ndarray) -> np.ndarray:
        replaced, length = activation.copy(), activation.shape[axis]
        replaced.swapaxes(0, axis)[[each for each in positions if each < length]] = value
        return replaced

    return replace


def given_rows(rows: np.ndarray) -> Function:
    """A function that replaces the first rows of attention weights (Q, K) by ``rows``.

    Rows that are all NaN keep the computed weights.

    >>> given_rows(np.array([[np.nan, np.nan], [1.0, 0.0]]))(np.full((2, 2), 0.5)).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """

    def replace(weights: np.ndarray) -> np.ndarray:
        given = np.asarray(rows, np.float32)[: weights.shape[0], : weights.shape[1]]
        chosen = np.flatnonzero(~np.isnan(given).all(axis=1))
        replaced = weights.copy()
        replaced[chosen] = 0
        replaced[chosen, : given.shape[1]] = given[chosen]
        return replaced

    return replace


def every_head(config: NetworkConfig) -> tuple[Head, ...]:
    """All heads of a network: kind by kind, layer by layer."""
    return tuple(
        Head(kind, layer, head)
        for kind in config.attention_kinds
        for layer in range(config.attention_layers)
        for head in range(config.num_heads)
    )


def check(intervention: Intervention, config: NetworkConfig, source_length: int) -> None:
    """Raise ValueError for an intervention that does not fit the network or the sentence.

    ``source_length``: S, the end mark included.

    It may name unknown heads, have means or weights of other shapes, or rows that are no distribution. A
    sentence that is longer than the network can read is refused, too.
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
    edited = [each.node for each in intervention.kernels]
    layers = {Node(kind, layer) for kind in FEED_FORWARDS.values() for layer in range(config.num_layers)}
    if len(set(edited)) < len(edited) or not layers >= set(edited):
        raise ValueError(f"edits should be of different feed-forward networks, received {edited}")
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


def checked_taps(names: Iterable[str], config: NetworkConfig) -> tuple[str, ...]:
    """``names``, each once.

    Raises ValueError with those that a network of this config does not have.
    """
    wanted = tuple(dict.fromkeys(names))
    if lacking := [name for name in wanted if name not in config.taps]:
        raise ValueError(f"a {config.architecture} has no taps {lacking}, it has {[*config.taps]}")
    return wanted
