"""Checks of an ``AttentionTrace``: types, shapes, rows that sum to 1, causal mask.

Fields come from any library's objects. A field becomes a NumPy array or plain Python, so that it can be
written to a file and two traces can be compared with ``==``. Shapes have to fit the tokens. Rows of attention
have to sum to 1, and none may look ahead or outside of its window. An error names the place: the kind, the
layer, the head and the row, counted from 0.

Shapes: B sentences in a batch, L layers, H heads, Q query and K key positions.
"""

from collections.abc import Sequence, Sized
from typing import Any

import numpy as np

from model.trace.strict_npz import TraceError


def plain_array(name: str, value: Any) -> np.ndarray:
    """A NumPy array as it is; a tensor of PyTorch, TensorFlow or JAX, or nested lists, as an array of their
    numbers.

    Raises TraceError for anything that holds no numbers, such as a tensor of a compiled graph.
    """
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "cO":
            raise TraceError(name, "be an array of real numbers", f"an array of {value.dtype}")
        return value
    if hasattr(value, "detach"):  # PyTorch: off the gradient, off the GPU, and to a type that NumPy has
        value = value.detach().cpu()
        value = value.float() if value.is_floating_point() else value
    try:
        found = np.asarray(value)
    except Exception as error:  # each library has its own kind
        raise TraceError(
            name, "hold numbers", type(value).__name__, "Inside a compiled function a tensor has none yet"
        ) from error
    if found.dtype.kind not in "biufV" or found.dtype.names:
        advice = "Ask the model for its attention weights" if value is None else ""
        raise TraceError(name, "be an array of numbers", type(value).__name__, advice)
    return found if found.dtype.kind in "biu" else found.astype(np.float32)  # "V": bfloat16


def all_layers(name: str, value: object, batch: int | None) -> np.ndarray:
    """(L, H, Q, K), of one array or of one for each layer; ``batch`` chooses the sentence of a batch axis.

    A single array of four dimensions is (L, H, Q, K), and (B, H, Q, K) of one layer where ``batch`` is given.
    In a list or tuple each is one layer, (H, Q, K) or (B, H, Q, K). Only a batch of one needs no ``batch``.

    >>> all_layers("encoder_attention", [np.ones((1, 8, 5, 5))] * 6, None).shape
    (6, 8, 5, 5)
    >>> all_layers("encoder_attention", [np.ones((3, 8, 5, 5))] * 6, batch=2).shape
    (6, 8, 5, 5)

    Raises TraceError for layers of several shapes, and for a batch of several sentences of which none is
    chosen.
    """
    if isinstance(value, list | tuple):
        found = _stacked(name, value)
        lacks_batch = found.ndim == 4
    else:
        found = plain_array(name, value)
        found = found[None] if batch is not None and found.ndim == 4 else found
        lacks_batch = batch is not None and found.ndim < 4
    if batch is not None and lacks_batch:
        raise TraceError(
            name, "have a batch axis, as batch is given", f"layers of the shape {found.shape[1:]}"
        )
    if found.ndim != 5:
        return found
    sentences = found.shape[1]
    if batch is None and sentences != 1:
        raise TraceError(
            name,
            "be of one sentence",
            f"layers of the shape {found.shape[1:]}, a batch of {sentences}",
            f"Say which one: batch=0 … {sentences - 1}",
        )
    return found[:, _chosen(name, batch or 0, sentences)]


def of_sentence(name: str, value: object, batch: int | None) -> object:
    """The row ``batch`` of a field of two dimensions, such as the padding of a batch; anything else as it
    is.

    >>> of_sentence("source_padding", np.array([[0, 0], [0, 1]]), 1).tolist()
    [0, 1]
    """
    if batch is None or value is None or isinstance(value, tuple) and not value:
        return value
    found = plain_array(name, value)
    return found[_chosen(name, batch, len(found))] if found.ndim == 2 else found


def _chosen(name: str, batch: int, sentences: int) -> int:
    """``batch``, if the batch has such a sentence. Raises TraceError otherwise."""
    if not 0 <= batch < sentences:
        raise TraceError(name, f"have a sentence {batch} in its batch", f"{sentences}, counted from 0")
    return batch


def _stacked(name: str, layers: Sequence[object]) -> np.ndarray:
    arrays = [plain_array(f"{name}[{place}]", each) for place, each in enumerate(layers)]
    shapes = sorted({array.shape for array in arrays})
    if len(shapes) != 1:
        raise TraceError(name, "have at least one layer, and all of one shape", shapes or "none")
    return np.stack(arrays)


Spans = tuple[tuple[int, int], ...]  # (start, end) pairs, the end excluded


def text(name: str, value: object) -> str:
    """A text; bytes, as TensorFlow's strings are, are read as UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if not isinstance(value, str):
        raise TraceError(name, "be a text", _received(value))
    return str(value)  # NumPy's texts become Python's


def texts(name: str, value: object) -> tuple[str, ...]:
    """
    >>> texts("source_tokens", np.array(["a", "b"]))
    ('a', 'b')
    """
    value = _listed(name, value, "a list of texts")
    # The usual case; faster than ``text`` for each of some 160 tokens.
    if all(type(each) is str for each in value):
        return tuple(value)
    return tuple(text(f"{name}[{place}]", each) for place, each in enumerate(value))


def rows_of_texts(name: str, value: object) -> tuple[tuple[str, ...], ...]:
    """Lists of texts as tuples. Raises TraceError for other values."""
    rows = _listed(name, value, "a list of lists of texts", rank=2)
    return tuple(texts(f"{name}[{place}]", each) for place, each in enumerate(rows))


def pairs(name: str, value: object) -> Spans:
    """Pairs of whole numbers as tuples. Raises TraceError for other values.

    >>> pairs("source_spans", np.array([[0, 1], [1, 3]]))
    ((0, 1), (1, 3))
    """
    found = _listed(name, value, "a list of pairs of whole numbers", rank=2)
    return tuple(_pair(f"{name}[{place}]", each) for place, each in enumerate(found))


def flags(name: str, value: object) -> tuple[bool, ...]:
    """One truth value for each token.

    Whole numbers are refused: a library's attention mask says the opposite.

    >>> flags("source_padding", np.array([5, 7, 0]) == 0)
    (False, False, True)
    """
    if isinstance(value, list | tuple) and not value:
        return ()
    found = plain_array(name, value)
    if found.dtype != bool:
        raise TraceError(
            name,
            "be True where there is padding and False elsewhere",
            f"dtype {found.dtype}",
            f"An attention mask says the opposite: give {name}=mask == 0",
        )
    if found.ndim != 1:
        raise TraceError(
            name, "have one dimension", f"the shape {found.shape}", "Of a batch, give batch=…, too"
        )
    return tuple(found.tolist())


def count(name: str, value: object) -> int:
    """
    >>> count("prompt", np.int64(3))
    3
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise TraceError(name, "be a whole number, 0 or more", _received(value))
    return int(value)


def windows(name: str, value: object) -> tuple[int, ...]:
    """
    >>> windows("windows", np.array([3, -1]))
    (3, -1)
    """
    found = _listed(name, value, "a whole number for each layer")
    return tuple(-1 if each == -1 else count(f"{name}[{place}]", each) for place, each in enumerate(found))


def hidden_cells(name: str, value: np.ndarray) -> np.ndarray:
    """The mask of a trace as truth values; a file holds them as the numbers 0 and 1.

    >>> hidden_cells("encoder_masked", np.float32([[[0, 1]]])).tolist()
    [[[False, True]]]
    """
    if value.dtype != bool and not np.isin(value, (0, 1)).all():
        raise TraceError(name, "be True where a row may not look and False elsewhere", "other numbers")
    return value.astype(bool)


def expect_shape(name: str, value: np.ndarray | Sized | None, shape: tuple) -> None:
    """Raises TraceError if an array has another shape, or a list another length."""
    received = value.shape if isinstance(value, np.ndarray) else () if value is None else (len(value),)
    if received != shape:
        raise TraceError(name, f"have the shape {_spelled(shape)}", received)


def _spelled(shape: tuple) -> str:
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"


def _listed(name: str, value: object, expected: str, rank: int = 1) -> list | tuple:
    """A list or a tuple as it is, an array of this rank as lists. Raises TraceError for anything else."""
    found = value.tolist() if isinstance(value, np.ndarray) and value.ndim == rank else value
    if not isinstance(found, list | tuple):
        raise TraceError(name, f"be {expected}", _received(value))
    return found


def _pair(name: str, value: object) -> tuple[int, int]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise TraceError(name, "be a pair of whole numbers", _received(value))
    for end in value:
        if isinstance(end, bool) or not isinstance(end, int | np.integer):
            raise TraceError(name, "be a pair of whole numbers", _received(end))
    start, end = value
    return int(start), int(end)


def _received(value: object) -> str:
    """The type of a value, and the value itself only if it is a number.

    Texts are private, and messages may reach a log.
    """
    kind = type(value).__name__
    return f"{kind} {value}" if isinstance(value, int | float | np.number) else kind


MASKS = {  # cells that sparse attention hides, by the kind of attention
    "encoder_attention": "encoder_masked",
    "decoder_attention": "decoder_masked",
    "cross_attention": "cross_masked",
}
PADDING = ("source_padding", "target_padding")


# A row of float32 weights sums to 1 within 1e-6; of bfloat16, which some networks compute with, within this.
_ROW_TOLERANCE = 1e-2
_RANGE_TOLERANCE = 1e-4  # how far rounding may push a probability or a weight outside 0..1


def check_rows(
    kind: str, weights: np.ndarray, padded: np.ndarray, *, emptied: bool = False, sink: bool = False
) -> None:
    """Raises TraceError if a row of ``weights`` (L, H, Q, K) is no attention.

    Rows that are ``padded`` (Q,) may sum to less, because their outputs are not used.

    Args:
        emptied: whether any row may be all 0.
        sink: whether any row may sum to less than 1, as the rest falls on an attention sink.
    """
    smallest, largest = weights.min(), weights.max()  # NaN if any is, and then no comparison holds
    if not (smallest >= -_RANGE_TOLERANCE and largest <= 1 + _RANGE_TOLERANCE):
        within = np.isfinite(weights) & (weights >= -_RANGE_TOLERANCE) & (weights <= 1 + _RANGE_TOLERANCE)
        *place, column = (int(number) for number in np.argwhere(~within)[0])
        found = f"{weights[(*place, column)]}, {_where(place)}, column {column}"
        advice = "Give the weights after the softmax"
        if np.isnan(weights[(*place, column)]):
            advice = "The network's own weights are NaN, or this row may look at nothing, "
            advice += "as where a text is padded in front"
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


def check_causal(weights: np.ndarray, padded: np.ndarray, prefix: int) -> None:
    """Raises TraceError if a row of a decoder's ``weights`` (L, H, T, T) attends to later tokens.

    Rows that are ``padded`` (T,) may, and so may the first ``prefix`` tokens among each other.
    """
    ahead = ((weights != 0) & later(len(padded), prefix)).any(-1) & ~padded
    if ahead.any():
        where = _where([int(number) for number in np.argwhere(ahead)[0]])
        advice = (
            "Let each token see itself and those before it alone: a causal, or look-ahead, mask. "
            "Where the first ones see each other, say how many: prefix=…"
        )
        raise TraceError("decoder_attention", "be 0 right of its diagonal", f"other weights, {where}", advice)


def check_hidden(name: str, weights: np.ndarray, layer: int, padded: np.ndarray, hidden: np.ndarray) -> None:
    """Raises TraceError, about the field ``name``, if a row of ``weights`` (H, Q, K) attends to a cell that
    is ``hidden`` (Q, K). Rows that are ``padded`` (Q,) may.
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
            "Dropout takes weights away: call the model for evaluation, as with training=False or "
            "model.eval(). "
            f"Where the rest falls on an attention sink, say so: sinks=({kind!r},)"
        )
    return "Dropout takes weights away: call the model for evaluation, as with training=False or model.eval()"


def expect_range(name: str, values: np.ndarray | None, lowest: float, highest: float) -> None:
    """Raises TraceError for values that are not finite or lie outside of ``lowest``..``highest``."""
    if values is None or not values.size:
        return
    smallest, largest = values.min(), values.max()  # NaN if any is, and then no comparison holds
    within = smallest >= lowest - _RANGE_TOLERANCE and largest <= highest + _RANGE_TOLERANCE
    if not (within and np.isfinite(smallest) and np.isfinite(largest)):
        limits = "" if lowest == -highest else f" and lie in {lowest}..{highest}"
        raise TraceError(name, f"be finite{limits}", f"{smallest} to {largest}")


EVERYWHERE = -1  # the window of a layer that has none


def later(length: int, prefix: int = 0) -> np.ndarray:
    """(length, length) bool: the cells after a row; the first ``prefix`` tokens all see each other.

    >>> later(2).tolist()
    [[False, True], [False, False]]
    """
    found = np.triu(np.ones((length, length), bool), 1)
    found[:prefix, :prefix] = False
    return found


def beyond(length: int, window: int) -> np.ndarray:
    """(length, length) bool: the cells more than ``window`` tokens away from a row, to either side.

    >>> beyond(3, 1).astype(int).tolist()
    [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    """
    places = np.arange(length)
    if window == EVERYWHERE:
        return np.zeros((length, length), bool)
    return np.abs(places - places[:, None]) > window
