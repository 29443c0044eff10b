"""Attention that was heard during one pass, sorted into the kinds of a trace by its shape.

H heads, Q query and K key positions; S source tokens, T tokens that the decoder reads.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from model.adapters.maps import Maps
from model.adapters.single_heads import with_heads_together
from model.trace.strict_npz import TraceError
from model.trace.trace import ATTENTION_KINDS, AttentionTrace
from model.trace.windows import later

Lengths = tuple[int, int | None]  # S and T; no T where there is no target


class Sorted(NamedTuple):
    """What was heard in a pass, by kind."""

    attention: dict[str, np.ndarray]  # (L, H, Q, K)
    masked: dict[str, np.ndarray]  # (L, H, Q, K) bool, True where a mask hides the key


HeardPass = tuple[list[Maps], Lengths]


def without_output(heard: Sequence[Maps], output: np.ndarray | None) -> list[Maps]:
    """The maps without the softmax that makes the probabilities of ``output`` (T, V), taken at once or row by row."""
    if output is None:
        return list(heard)
    return [each for each in heard if not _is_part(each.weights, output)]


def _is_part(maps: np.ndarray, output: np.ndarray) -> bool:
    if len(maps) != 1 or maps.shape[-1] != output.shape[-1]:
        return False
    if maps.shape[1:] == output.shape:
        return np.allclose(maps[0], output, atol=1e-5)
    return maps.shape[1] == 1 and bool(np.isclose(output, maps[0, 0], atol=1e-5).all(-1).any())


def sorted_by_kind(
    heard: Sequence[Maps],
    lengths: Lengths,
    again: Callable[[Lengths], HeardPass],
    heads: int | None = None,
) -> Sorted:
    """What has the shape of attention; layers are in the order in which they were computed.

    Where shapes do not tell what is what, ``again`` makes a second pass with the lengths that it is given: S and T are equal, or a
    softmax of something else, or heads in another place, would look the same. Where no second pass succeeds and S and T are equal, the first map
    that never looks ahead is where the decoder begins. A decoder that runs step by step leaves rows, which are put together.
    ``heads``: how many softmaxes of one head make a layer; see ``with_heads_together``.

    Raises TraceError for kinds that cannot be told apart, and for layers with different numbers of heads.
    """
    source, target = lengths
    steps = _steps(heard, lengths)
    whole = [each for each in heard if not any(each is step for step in steps)]
    kinds = _of_second_pass(whole, lengths, again) if _is_doubtful(whole, lengths) else None
    if kinds is None and whole and source == target:
        kinds = _by_order(whole, source)
    elif kinds is None:
        kinds = [_kind_of(each.weights.shape[1:], lengths) for each in whole]
    found = {
        kind: [maps for maps, of in zip(whole, kinds, strict=True) if of == kind] for kind in ATTENTION_KINDS
    }
    layers = {kind: with_heads_together(kind, maps, heads) for kind, maps in found.items() if maps}
    attention = {kind: _layers(kind, [each.weights for each in maps]) for kind, maps in layers.items()}
    masked = {kind: _layers(kind, [each.masked for each in maps]) for kind, maps in layers.items()}
    if steps and "cross_attention" not in layers:
        attention["cross_attention"] = _rows_together([each.weights for each in steps], target or 1)
        masked["cross_attention"] = _rows_together([each.masked for each in steps], target or 1)
    return Sorted(attention, masked)


def _steps(heard: Sequence[Maps], lengths: Lengths) -> list[Maps]:
    """The rows that a decoder leaves which runs step by step. There are none beside a whole map of what the target looks at."""
    source, target = lengths
    if target in (None, 1) or any(each.weights.shape[1:] == (target, source) for each in heard):
        return []
    return [each for each in heard if each.weights.shape[1:] == (1, source)]


def _is_doubtful(whole: Sequence[Maps], lengths: Lengths) -> bool:
    """Whether something else may have a shape of attention: the softmax of a router in place of one head, or heads in place of rows."""
    if not whole or lengths[0] == lengths[1]:
        return bool(whole)
    found = [each.weights.shape for each in whole if _kind_of(each.weights.shape[1:], lengths)]
    return any(heads == 1 or heads in shape for heads, *shape in found)


def with_masks(trace: AttentionTrace, masked: Mapping[str, np.ndarray]) -> AttentionTrace:
    """``trace`` with ``masked``, which says by kind what its masks hide (L, H, Q, K). Padding and the order of writing are left out of it.

    A trace holds one mask for all heads of a layer. What is hidden from some of them alone is told in a warning.
    """
    fields = {}
    for kind, cells in masked.items():
        rows, columns = trace.padding(kind)
        found = cells & ~rows[:, None] & ~columns
        if kind == "decoder_attention":
            found &= ~later(len(rows), trace.prefix)
        common = found.all(axis=1)
        _warn_of_single_heads(kind, (found & ~common[:, None]).any(axis=(2, 3)))
        if common.any():
            fields[kind.replace("_attention", "_masked")] = common
    return replace(trace, **fields) if fields else trace


def _warn_of_single_heads(kind: str, masked: np.ndarray) -> None:
    """``masked`` (L, H) bool: the heads that may not look where another head of their layer may."""
    layers = [
        f"layer {layer}, heads {', '.join(map(str, np.flatnonzero(heads)))}"
        for layer, heads in enumerate(masked)
        if heads.any()
    ]
    if layers:
        warnings.warn(
            f"{kind}: a mask hides tokens from some heads alone ({'; '.join(layers)}, counted from 0). "
            "Pictures hatch what is hidden from all heads of a layer, and show the weight 0 for the rest",
            UserWarning,
            stacklevel=4,
        )


def _kind_of(shape: tuple[int, ...], lengths: Lengths) -> str | None:
    source, target = lengths
    if target is None:
        return {(source, source): ATTENTION_KINDS[0], (1, source): ATTENTION_KINDS[2]}.get(
            (shape[0], shape[1])
        )
    shapes = {
        (source, source): ATTENTION_KINDS[0],
        (target, target): ATTENTION_KINDS[1],
        (target, source): ATTENTION_KINDS[2],
    }
    return shapes.get((shape[0], shape[1]))


def _of_second_pass(
    whole: list[Maps], lengths: Lengths, again: Callable[[Lengths], HeardPass]
) -> list[str | None] | None:
    """The kinds of the first pass's maps, by the shapes that the same softmaxes had in the second."""
    for other in _other_lengths(lengths):
        try:
            heard, _ = again(other)
        except Exception:  # noqa: BLE001, S112  lengths that the network was not built for: each library has its own kind
            continue
        steps = _steps(heard, other)
        second = [each for each in heard if not any(each is step for step in steps)]
        if len(second) != len(whole):
            return None
        both = [
            (_kind_of(a.weights.shape[1:], lengths), _kind_of(b.weights.shape[1:], other))
            for a, b in zip(whole, second, strict=True)
        ]
        return [kind if first is not None else None for first, kind in both]
    return None


def _other_lengths(lengths: Lengths) -> Sequence[Lengths]:
    """Lengths that are unequal, those first that tell most."""
    source, target = lengths
    if target is None:
        return [(source + 1, None), (source - 1, None)][: 1 + (source > 2)]
    longer = (source + 1, target + 1 + (source == target))
    return [longer, *((source, length) for length in (target + 1, target - 1) if length not in (0, source))]


def stretched(ids: np.ndarray, length: int, axis: int = 0) -> np.ndarray:
    """The first ones of ``ids``, or all and the last one several times.

    >>> stretched(np.array([5, 3]), 4).tolist()
    [5, 3, 3, 3]
    """
    return ids.take(np.minimum(np.arange(length), ids.shape[axis] - 1), axis)


def _by_order(whole: list[Maps], length: int) -> list[str | None]:
    square = [each.weights.shape[1:] == (length, length) for each in whole]
    causal = [is_causal(each.weights) if fits else False for each, fits in zip(whole, square, strict=True)]
    if not any(causal):
        raise TraceError(
            "cross_attention",
            "differ from encoder_attention in its shape",
            f"{length} source and {length} target tokens",
            "Trace a target of another length",
        )
    start = causal.index(True)
    named = [
        ATTENTION_KINDS[1] if looks_back else ATTENTION_KINDS[2] if n > start else ATTENTION_KINDS[0]
        for n, looks_back in enumerate(causal)
    ]
    return [kind if fits else None for kind, fits in zip(named, square, strict=True)]


def is_causal(maps: np.ndarray) -> bool:
    """Whether no row of (…, Q, K) looks ahead; one row alone cannot show it.

    >>> is_causal(np.eye(3)[None]), is_causal(np.ones((1, 3, 3)) / 3)
    (True, False)
    """
    return maps.shape[-1] > 1 and not np.triu(maps, 1).any()


def prefix_of(maps: np.ndarray) -> int:
    """How many of the first tokens see each other in (…, K, K), where no other row looks ahead: 0 of a decoder, K of an encoder.

    >>> prefix_of(np.eye(3)), prefix_of(np.float32([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]]))
    (0, 2)
    """
    ahead = np.triu((maps != 0).any(axis=tuple(range(maps.ndim - 2))), 1)
    return int(np.flatnonzero(ahead.any(0))[-1]) + 1 if ahead.any() else 0


def _layers(kind: str, maps: Sequence[np.ndarray]) -> np.ndarray:
    """L maps (H, Q, K) -> (L, H, Q, K)."""
    heads = sorted({len(each) for each in maps})
    if len(heads) != 1:
        raise TraceError(kind, "have as many heads in each layer", f"{heads} heads")
    return np.stack(maps)


def _rows_together(steps: Sequence[np.ndarray], rows: int) -> np.ndarray:
    """Maps (H, 1, K), step after step -> (L, H, T, K)."""
    if len(steps) % rows and len(steps) % (rows + 1) == 0:
        # A Keras RNN first calls its cell once to see what it returns.
        steps = steps[len(steps) // (rows + 1) :]
    if len(steps) % rows:
        found = f"{len(steps)} softmaxes for {rows} target tokens"
        raise TraceError("cross_attention", "have as many rows as there are target tokens", found)
    together = np.stack(steps)[:, :, 0]  # (T * L, H, K)
    return together.reshape(rows, -1, *together.shape[1:]).transpose(1, 2, 0, 3)
