"""Interventions as replacements of activations by name, for a pass or a ``Batch``; checks.

B rows, L layers, H heads, S source and T target tokens, Q query and K key positions, D d_model.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.activations.sublayers import Sublayers
from model.stored.config import NetworkConfig
from model.text.tokenizer import PAD_ID
from model.trace.interventions import (
    EVERYWHERE,
    FEED_FORWARDS,
    Computed,
    Head,
    Intervention,
    Node,
    Patches,
    kind_side,
    sublayer_at,
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
    if part == "output":
        return output_name(*sublayer_at(of, place))
    kind, layer = sublayer_at(of, place - 1)
    after = f"{of}.{layer + 1}" if kind == FEED_FORWARDS[of] else sublayer_name(kind, layer)
    return f"{after}.residual"


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


class AttentionSize(NamedTuple):
    """The layers of one kind of attention in a network, and the heads of each."""

    layers: int
    heads: int


def check(intervention: Intervention, sizes: Mapping[str, AttentionSize], source_length: int) -> None:
    """Raise ValueError for heads, layers and positions that a network or a sentence does not have.

    Also for replaced weights of another shape, and for rows that are no distribution.

    Args:
        sizes: by kind of attention.
        source_length: S, the end mark included.
    """
    none = AttentionSize(0, 0)
    for head in (*intervention.off, *intervention.weights):
        layers, heads = sizes.get(head.kind, none)
        if not (0 <= head.layer < layers and 0 <= head.head < heads):
            shapes = {kind: tuple(size) for kind, size in sizes.items()}
            raise ValueError(f"a head should be one of (layers, heads) {shapes}, received {head}")
    for value in intervention.zeroed:
        if not 0 <= value.layer < sizes.get(value.kind, none).layers or value.position < 0:
            raise ValueError(f"a zeroed value should lie in a layer of the network, received {value}")
    check_source(intervention, source_length)
    if places := [p for p in intervention.without_target if p < 0]:
        raise ValueError(f"what is left out should lie at 0 or later, received {places[0]}")
    for head, rows in intervention.weights.items():
        _check_rows(head, np.asarray(rows), source_length)


def check_source(intervention: Intervention, source_length: int) -> None:
    """Raise ValueError for left-out tokens outside of a source of S = ``source_length`` tokens."""
    if places := [p for p in intervention.without_source if not 0 <= p < source_length]:
        raise ValueError(f"what is left out should lie in 0..{source_length - 1}, received {places[0]}")


def check_of_ours(intervention: Intervention, config: NetworkConfig, source_length: int) -> None:
    """``check`` for a network of ours, which also takes means and edits of output matrices.

    A sentence that is longer than the network can read is refused, too.
    """
    if source_length - 1 > config.max_length:  # the end mark is no character
        raise ValueError(f"a sentence may have {config.max_length} characters, received {source_length - 1}")
    size = AttentionSize(config.attention_layers, config.num_heads)
    check(intervention, dict.fromkeys(config.attention_kinds, size), source_length)
    if intervention.means is not None:
        expected = (*size, config.d_model // config.num_heads)
        for kind in {head.kind for head in intervention.off}:
            means = intervention.means.get(kind)
            received = () if means is None else np.shape(means)
            if received != expected:
                raise ValueError(f"means of {kind} should have the shape {expected}, received {received}")
    edited = [each.node for each in intervention.kernels]
    layers = {Node(kind, layer) for kind in FEED_FORWARDS.values() for layer in range(config.num_layers)}
    if len(set(edited)) < len(edited) or not layers >= set(edited):
        raise ValueError(f"edits should be of different feed-forward networks, received {edited}")


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


INSIDE_ATTENTION = ("query", "key", "value", "attention")
ALL = -1.0  # a layer before the first: rows that join here are computed throughout


@dataclass(frozen=True)
class Rows:
    """B passes to be computed together.

    Attributes:
        sources: B rows of ids of one length, or one that all passes share; ``targets`` the same of written
            ids, the last of which is not read.
        changes: the replacements of each pass.
        common: replacements of all passes, which those in ``changes`` supersede.
        memory: (B, S, D), the encoder's output, where an earlier pass over the same sources computed it.
    """

    sources: Sequence[Sequence[int]]
    targets: Sequence[Sequence[int]]
    changes: Sequence[Replacements]
    common: Replacements
    memory: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        changes: Sequence[Replacements],
        memory: np.ndarray | None = None,
    ) -> "Rows":
        """Passes over sources (S,) and targets (T,) that may differ, padded to one length."""
        sources, targets = ([[*one] for one in rows] for rows in (sources, targets))
        if memory is None and all(one == rows[0] for rows in (sources, targets) for one in rows):
            return cls(sources[:1], targets[:1], changes, {})
        s, t = (max(map(len, rows)) for rows in (sources, targets))
        targets = [[*one[:-1], *[PAD_ID] * (t - len(one)), *one[-1:]] for one in targets]
        sources = [[*one, *[PAD_ID] * (s - len(one))] for one in sources]
        return cls(sources, targets, changes, {}, None if memory is None else memory[:, :s])

    @property
    def share(self) -> bool:
        """Whether all passes are about one source and one target."""
        return self.memory is None and len(self.sources) == len(self.targets) == 1


class Batch:
    """The replacements of the rows of one batch, by the names of activations.

    ``starts``: in which layer each row joins, in ascending order; decoder layers count after those of the
    encoder.
    """

    def __init__(self, common: Replacements, changes: Sequence[Replacements], starts: Sequence[float]):
        self.count, self._starts, self._common = len(changes), np.array(starts), common
        self._own: dict[str, list[tuple[int, Replacement]]] = {}
        for row, replacements in enumerate(changes):
            for name, replacement in replacements.items():
                self._own.setdefault(name, []).append((row, replacement))

    def replaces(self, name: str) -> bool:
        return name in self._common or name in self._own

    def functions(self, name: str, count: int) -> Iterator[tuple[int, Function]]:
        """(row, function) of the first ``count`` rows that have a function under this name."""
        own = dict(self._own.get(name, ()))
        for row in range(count):
            function = own.get(row, self._common.get(name))
            if callable(function):
                yield row, function

    def put(self, name: str, array: np.ndarray, first: int = 0) -> None:
        """Replace the activation (B, ...) in place, whose ``first`` rows have it already."""
        own, common = self._own.get(name, []), self._common.get(name)
        if not (common is None or isinstance(common, Computed) or first):
            spared = [at for at, replacement in own if isinstance(replacement, Computed) and at < len(array)]
            computed = array[spared]
            for at in range(len(array)) if callable(common) else (slice(None),):
                self._replace(array, at, common)
            array[spared] = computed
        for at, replacement in own:
            if first <= at < len(array) and not isinstance(replacement, Computed):
                self._replace(array, at, replacement)

    def _replace(
        self, array: np.ndarray, at: int | slice, replacement: np.ndarray | float | Function | At
    ) -> None:
        if callable(replacement):
            array[at] = replacement(array[at])
            return
        value, positions = replacement if isinstance(replacement, At) else (replacement, EVERYWHERE)
        array[at, positions] = value

    def whole(self, array: np.ndarray) -> np.ndarray:
        """All rows of an array (B, Q, D): those that have not joined equal row 0."""
        return first_rows(array, self.count)

    def join(self, x: np.ndarray, layer: float) -> np.ndarray:
        """The stream (B, Q, D) before a layer, with the rows that join here.

        So far they equal row 0.
        """
        count = max(1, int((self._starts <= layer).sum()))
        return x if count <= len(x) else first_rows(x, count)

    def hidden(self, name: str, seen: np.ndarray) -> np.ndarray | None:
        """(B, K) True at hidden keys, None if that is nowhere.

        ``seen``: the mask (B, K), or (1, K) of all rows, before its replacements.
        """
        if seen.all() and not self.replaces(name):
            return None
        mask = np.repeat(seen, self.count // len(seen), axis=0)
        self.put(name, mask)
        return ~mask


def first_rows(array: np.ndarray, count: int) -> np.ndarray:
    """(B, ...) -> (``count``, ...): missing rows equal row 0.

    >>> first_rows(np.array([5, 7]), 3).tolist()
    [5, 7, 5]
    """
    rows = np.arange(count)
    return array[:count] if len(array) >= count else array[np.where(rows < len(array), rows, 0)]
