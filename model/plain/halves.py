"""The halves of a Transformer in NumPy, whose passes take an intervention.

The walk is that of ``model/plain/walk.py``. Here a batch is many sentences, each under its own intervention.

B rows, L layers, H heads, S source and T target tokens, Q query and K key positions, D d_model, V vocabulary.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np

from model.plain.alterations import Altered, AlteredAttention
from model.plain.parts import PlainParts
from model.plain.patched import THREADS
from model.plain.walk import walk
from model.text.tokenizer import PAD_ID
from model.trace.taps import Found, tap

Nested = TypeVar("Nested")  # nested tuples and dictionaries of arrays
FEW = 8  # rows that one core computes alone: less is not worth a second


class PlainMemory(NamedTuple):
    """What the encoder leaves: ``states`` (B, S, D), and ``mask`` (B, 1, 1, S), True at tokens that may be looked at."""

    states: np.ndarray
    mask: np.ndarray


class PlainScope(NamedTuple):
    """What one kind of attention may look at: ``mask`` (B, 1, Q, K) or broadcastable to it, and the ``states`` (B, K, D) that it
    reads, its own side's if None."""

    mask: np.ndarray
    states: np.ndarray | None = None


class PlainHalves:
    """``encode`` and ``decode`` as ``model.plain.altered.AlteredHalves`` has them. Safe to call from threads.

    ``parts``: a network in NumPy, of which the parts of a pass are taken.
    """

    def __init__(self, parts: PlainParts):
        self._parts = parts

    def encode(
        self, ids: np.ndarray, altered: Altered, taps: tuple[str, ...]
    ) -> tuple[PlainMemory, dict[str, np.ndarray]]:
        """(B, S) ids -> memory, taps by name."""

        def run(ids: np.ndarray, altered: Altered) -> tuple[PlainMemory, dict[str, np.ndarray]]:
            found, mask = Found(taps), (ids != PAD_ID)[:, None, None, :]
            states = self._side("encoder", ids, altered, {"encoder_attention": PlainScope(mask)}, found)
            found.put("memory", states)
            return PlainMemory(states, mask), found.stacked(np.stack)

        return _on_all_cores(run, len(ids), ids, altered)

    def decode(
        self, ids: np.ndarray, memory: PlainMemory, altered: Altered, taps: tuple[str, ...]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """(B, T) decoder input ids, memory -> logits (B, T, V), taps by name."""

        def run(
            ids: np.ndarray, memory: PlainMemory, altered: Altered
        ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
            found, scopes = Found(taps), _decoder_scopes(ids.shape[1], memory)
            logits = self._parts.logits(self._side("decoder", ids, altered, scopes, found))
            found.put("logits", logits)
            return logits, found.stacked(np.stack)

        return _on_all_cores(run, len(ids), ids, memory, altered)

    def chosen(self, arrays: Any, rows: Sequence[int]) -> Any:
        """These rows of nested arrays."""
        return _mapped(lambda array: array[rows], arrays)

    def one_layer(
        self, layer: int, x: np.ndarray, memory: PlainMemory, changed: dict[str, AlteredAttention]
    ) -> np.ndarray:
        """The decoder's stream behind one layer, from the stream (B, T, D) before it. ``changed``: by kind, of this layer alone."""
        rows = AlteredRows(
            self._parts, "decoder", _decoder_scopes(x.shape[1], memory), lambda kind, _: changed[kind]
        )
        return walk(self._parts, "decoder", x, rows, Found(), [layer])

    def _side(
        self, side: str, ids: np.ndarray, altered: Altered, scopes: dict[str, PlainScope], found: Found
    ) -> np.ndarray:
        """The residual stream of a side from ids (B, Q) to its end, ready to be read (B, Q, D)."""
        parts = self._parts
        x = parts.vectors[ids] * np.float32(np.sqrt(parts.config.d_model))
        if altered.embedding_scale is not None:
            x = x * altered.embedding_scale[..., None]
        found.put(tap(side, "embedding"), x)
        x = x + parts.positions(ids.shape[1], side)
        stacked = altered.attention or {}
        rows = AlteredRows(
            parts, side, scopes, lambda kind, layer: stacked.get(kind, AlteredAttention()).layer(layer)
        )
        return parts.close(side, walk(parts, side, x, rows, found))


class AlteredRows:
    """Many sentences, each under its own intervention, as ``walk.WalkedRows`` wants them: all are computed in each layer.

    ``changed``: what the interventions make of one kind of attention in one layer.
    """

    def __init__(
        self,
        parts: PlainParts,
        side: str,
        scopes: dict[str, PlainScope],
        changed: Callable[[str, int], AlteredAttention],
    ):
        self._parts, self._side, self._scopes, self._changed = parts, side, scopes, changed

    def join(self, layer: int, x: np.ndarray) -> np.ndarray:
        return x

    def go_on(self, layer: int, x: np.ndarray) -> np.ndarray:
        return x

    def put(self, name: str, place: int, array: np.ndarray) -> None:
        """Interventions write nothing over what was computed."""

    def feed_forward(self, layer: int, entered: np.ndarray) -> np.ndarray:
        return self._parts.feed_forward(self._side, layer, entered)

    def attend(
        self, kind: str, layer: int, asking: np.ndarray, entered: np.ndarray, found: Found
    ) -> np.ndarray:
        """What the interventions make of an attention: where it looks, its weights, its values, what each head finds."""
        scope, changed = self._scopes[kind], self._changed(kind, layer)
        read = entered if scope.states is None else scope.states
        query, key, value = self._parts.projected(kind, layer, asking, read)
        found.add(kind, query=query, key=key, value=value)
        mask = scope.mask
        if changed.seen is not None:
            mask = mask & changed.seen[:, None, None, :]
        weights = _softmax(query @ key.swapaxes(-1, -2) / self._parts.scale(key.shape[-1]), mask)
        if changed.values is not None:
            value = value * changed.values[:, None, :, None]
        if changed.weights is not None:
            weights = np.where(changed.replaced[..., None], changed.weights, weights)
        heads = weights @ value
        if changed.gates is not None:
            heads = heads * changed.gates[:, :, None, None]
        if changed.added is not None:
            heads = heads + changed.added[:, :, None, :]
        found.add(kind, attention=weights, heads=heads)
        return self._parts.join(kind, layer, heads)


def _decoder_scopes(length: int, memory: PlainMemory) -> dict[str, PlainScope]:
    """Each token sees itself, the tokens before it, and the real tokens of the source."""
    return {
        "decoder_attention": PlainScope(np.tri(length, dtype=bool)[None, None]),
        "cross_attention": PlainScope(memory.mask, memory.states),
    }


def _softmax(logits: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Over the keys that may be looked at. A row with nothing to look at is all 0.

    >>> _softmax(np.zeros((2, 2)), np.array([[True, True], [False, False]])).tolist()
    [[0.5, 0.5], [0.0, 0.0]]
    """
    allowed = np.where(mask, logits, -np.inf)
    highest = allowed.max(axis=-1, keepdims=True)
    weights = np.exp(allowed - np.where(np.isneginf(highest), 0, highest))
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)


def _on_all_cores(run: Callable[..., Nested], rows: int, *arguments: Any) -> Nested:
    """``run`` of ``arguments``, their rows shared among threads: NumPy lets go of the interpreter while it computes."""
    if rows <= FEW:
        return run(*arguments)
    cuts = np.array_split(np.arange(rows), THREADS)

    def part(cut: np.ndarray) -> Nested:
        rows = slice(cut[0], cut[-1] + 1)
        # An array that is the same for all rows has one row alone.
        return run(*_mapped(lambda array: array[rows] if len(array) > 1 else array, arguments))

    with ThreadPoolExecutor(THREADS) as threads:
        return _mapped(lambda *parts: np.concatenate(parts), *threads.map(part, cuts))


def _mapped(function: Callable, *trees: Any) -> Any:
    """``function`` of the arrays at each place of nested tuples and dictionaries; None stays None."""
    first = trees[0]
    if first is None:
        return None
    if isinstance(first, dict):
        return {name: _mapped(function, *(tree[name] for tree in trees)) for name in first}
    if isinstance(first, tuple):
        parts = [_mapped(function, *each) for each in zip(*trees, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    return function(*trees)
