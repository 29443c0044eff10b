"""Checks whether numbers are attention: each row sums to 1, and no row looks at what is not written yet.

An error says where: the kind, and the layer, the head and the row, counted from 0.
"""

import numpy as np

from model.trace.strict_npz import TraceError

# A row of float32 weights sums to 1 within 1e-6; of bfloat16, which some networks compute with, within this.
_ROW_TOLERANCE = 1e-2
_RANGE_TOLERANCE = 1e-4  # how far rounding may push a probability or a weight outside 0..1


def check_rows(
    kind: str,
    weights: np.ndarray,
    padded: np.ndarray,
    later: np.ndarray | None = None,
    *,
    emptied: bool = False,
    sink: bool = False,
) -> None:
    """Raises TraceError if a row of ``weights`` (L, H, Q, K) is no attention. Rows that are ``padded`` (Q,) may sum to less and may
    look ahead, because nobody uses what they compute.

    Args:
        later: (Q, K) bool, where nobody may look, or None.
        emptied: whether any row may be all 0.
        sink: whether any row may sum to less than 1, as the rest falls on an attention sink.
    """
    smallest, largest = weights.min(), weights.max()  # NaN where there is one, and then no comparison holds
    if not (smallest >= -_RANGE_TOLERANCE and largest <= 1 + _RANGE_TOLERANCE):
        within = np.isfinite(weights) & (weights >= -_RANGE_TOLERANCE) & (weights <= 1 + _RANGE_TOLERANCE)
        *place, column = (int(number) for number in np.argwhere(~within)[0])
        found = f"{weights[(*place, column)]}, {_where(place)}, column {column}"
        advice = "Give the weights after the softmax"
        if np.isnan(weights[(*place, column)]):
            advice = "The network's own weights are NaN, or this row may look at nothing, as where a text is padded in front"
        raise TraceError(kind, "be finite and lie in 0..1", found, advice)
    sums = weights.sum(-1, dtype=np.float32)
    wrong = np.where(padded | sink, sums > 1 + _ROW_TOLERANCE, np.abs(sums - 1) > _ROW_TOLERANCE)
    if emptied:
        wrong &= sums != 0
    if wrong.any():
        place = [int(number) for number in np.argwhere(wrong)[0]]
        total = f"{sums[tuple(place)]}, {_where(place)}, and so in {wrong.sum()} of {wrong.size} rows"
        expected = "at most 1" if sink else "1"
        raise TraceError(kind, f"have rows that sum to {expected}", total, _advice(kind, sums[wrong]))
    if later is not None:
        ahead = ((weights != 0) & later).any(-1) & ~padded
        if ahead.any():
            place = [int(number) for number in np.argwhere(ahead)[0]]
            advice = (
                "Let each token see itself and those before it alone: a causal, or look-ahead, mask. "
                "Where the first ones see each other, say how many: prefix=…"
            )
            raise TraceError(kind, "be 0 right of its diagonal", f"other weights, {_where(place)}", advice)


def check_hidden(name: str, weights: np.ndarray, layer: int, padded: np.ndarray, hidden: np.ndarray) -> None:
    """Raises TraceError, about the field ``name``, if a row of ``weights`` (H, Q, K) looks at what is ``hidden`` (Q, K). Rows that are
    ``padded`` (Q,) may.
    """
    outside = ((weights != 0) & hidden).any(-1) & ~padded
    if outside.any():
        head, row = (int(number) for number in np.argwhere(outside)[0])
        where = _where([layer, head, row])
        if name == "windows":
            advice = "A window counts the tokens to either side; -1 is a layer without one"
            raise TraceError(name, "hold all that rows look at", f"a weight outside, {where}", advice)
        advice = "Leave a mask away that is of some heads alone, or of another network"
        raise TraceError(
            name, "be True only where no head of the layer looks", f"a weight there, {where}", advice
        )


def _where(place: list[int]) -> str:
    return "layer {}, head {}, row {}".format(*place)


def _advice(kind: str, sums: np.ndarray) -> str:
    if not sums.any():
        side = "source" if kind == "encoder_attention" else "target"
        return f"Where these rows are padding, say so in {side}_padding"
    if (sums < 1).all():
        return (
            "Dropout takes weights away: call the model for evaluation, as with training=False or model.eval(). "
            f"Where the rest falls on an attention sink, say so: sinks=({kind!r},)"
        )
    return "Dropout takes weights away: call the model for evaluation, as with training=False or model.eval()"


def expect_range(name: str, values: np.ndarray | None, lowest: float, highest: float) -> None:
    """Raises TraceError for values that are not finite or lie outside of ``lowest``..``highest``."""
    if values is None or not values.size:
        return
    smallest, largest = values.min(), values.max()  # NaN where there is one, and then no comparison holds
    within = smallest >= lowest - _RANGE_TOLERANCE and largest <= highest + _RANGE_TOLERANCE
    if not (within and np.isfinite(smallest) and np.isfinite(largest)):
        limits = "" if lowest == -highest else f" and lie in {lowest}..{highest}"
        raise TraceError(name, f"be finite{limits}", f"{smallest} to {largest}")
