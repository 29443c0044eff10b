"""Attention as libraries hand it out, made into one NumPy array: tensors of any library, one for each layer, of a batch.

B sentences in a batch, L layers, H heads, Q query and K key positions.
"""

from typing import Any

import numpy as np

from model.trace.strict_npz import TraceError


def plain_array(name: str, value: Any) -> np.ndarray:
    """A NumPy array as it is; a tensor of PyTorch, TensorFlow or JAX, or nested lists, as an array of their numbers.

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


def all_layers(name: str, value: Any, batch: int | None) -> np.ndarray:
    """(L, H, Q, K), of one array or of one for each layer; ``batch`` says which sentence where there is a batch axis.

    A single array of four dimensions is (L, H, Q, K), and (B, H, Q, K) of one layer where ``batch`` is given. In a list
    or tuple each is one layer, (H, Q, K) or (B, H, Q, K). Only a batch of one needs no ``batch``.

    >>> all_layers("encoder_attention", [np.ones((1, 8, 5, 5))] * 6, None).shape
    (6, 8, 5, 5)
    >>> all_layers("encoder_attention", [np.ones((3, 8, 5, 5))] * 6, batch=2).shape
    (6, 8, 5, 5)

    Raises TraceError for layers of several shapes, and for a batch of several sentences of which none is chosen.
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
    return found[:, chosen(name, batch or 0, sentences)]


def of_sentence(name: str, value: Any, batch: int | None) -> Any:
    """The row ``batch`` of what has two dimensions, such as the padding of a batch; anything else as it is."""
    if batch is None or value is None or isinstance(value, tuple) and not value:
        return value
    found = plain_array(name, value)
    return found[chosen(name, batch, len(found))] if found.ndim == 2 else found


def chosen(name: str, batch: int, sentences: int) -> int:
    """``batch``, if there is such a sentence; raises TraceError where there is none."""
    if not 0 <= batch < sentences:
        raise TraceError(name, f"have a sentence {batch} in its batch", f"{sentences}, counted from 0")
    return batch


def _stacked(name: str, layers: Any) -> np.ndarray:
    arrays = [plain_array(f"{name}[{place}]", each) for place, each in enumerate(layers)]
    shapes = sorted({array.shape for array in arrays})
    if len(shapes) != 1:
        raise TraceError(name, "have at least one layer, and all of one shape", shapes or "none")
    return np.stack(arrays)
