"""Recorded calls of the layers in a Keras pass: linear maps, normalisations, embeddings.

N rows of a sentence, H heads, d their width, Q query and K key positions, D d_model, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from model.adapters.capture import LOCK, LayerCall, Observing, Tensor, replaced
from model.adapters.keras import eager_functions
from model.adapters.own_passes import array_of
from model.adapters.own_stream import apart, of_each_head
from model.trace.interventions import Normalisation

if TYPE_CHECKING:
    import keras

_NEAR = 1e-4  # of the largest number: the tolerance between two computations of one array
_ROTARY = "RotaryEmbedding"  # the class of layers that rotate queries and keys, as in KerasHub


class Call(NamedTuple):
    """One call of a layer that has weights."""

    place: int  # among the calls
    path: tuple[LayerCall, ...]  # it, behind the calls that enclose it
    given: np.ndarray  # (N, in), or (N,) ids
    returned: np.ndarray  # (N, out)

    @property
    def layer(self) -> keras.layers.Layer:
        return self.path[-1].layer

    @property
    def softmaxes(self) -> int:
        """How many were computed before it."""
        return self.path[-1].softmaxes

    def again(self, rows: Tensor) -> Tensor:
        """(N, in) -> (1, N, …): the output of the layer for other rows; its other arguments are the same."""
        from keras import ops

        first, *others = self.path[-1].given
        given = ops.reshape(rows, (1, len(rows), *[1] * (len(first.shape) - 3), rows.shape[1]))
        with LOCK:  # else it would be a call of a pass that another thread observes
            return self.layer(ops.cast(given, first.dtype), *others, **self.path[-1].named)


class Recorded(NamedTuple):
    """One pass with the calls of its layers."""

    sides: list[list[int]]  # the ids of the source and of the read target, or of one sequence
    calls: list[Call]
    weights: list[np.ndarray]  # (H, Q, K) of each softmax
    order: list[tuple[str, int] | None]  # the kind and the layer of each softmax
    logits: np.ndarray  # (T, V)


Recording = Callable[..., Recorded]  # (ids of each side) -> the pass


class Linear(NamedTuple):
    """A Dense or EinsumDense layer: ``returned = given @ kernel + bias``."""

    place: int  # among the calls
    given: np.ndarray
    returned: np.ndarray
    kernel: np.ndarray  # (in, out)
    bias: np.ndarray  # (out,)
    norm: Norm | None = None  # that each head of a query or a key is given to

    def repeated(self, width: int, parts: int) -> Linear:
        """The same with a copy of its output (N, H·d) for each head, where heads share ``parts`` of it."""
        arrays = self.kernel, self.bias, self.returned
        kernel, bias, returned = (of_each_head(each, width, parts) for each in arrays)
        return self._replace(kernel=kernel, bias=bias, returned=returned)


class Norm(NamedTuple):
    """A normalisation over the last axis, of Keras or written by hand."""

    place: int  # among the calls
    given: np.ndarray
    returned: np.ndarray
    gamma: np.ndarray
    beta: np.ndarray
    normalisation: Normalisation


def kept_in(calls: list[Call]) -> Observing:
    """A function that keeps the calls of layers over one sentence (N, D), for ``Capture.observing``."""

    def keep(path: tuple[LayerCall, ...], returned: object) -> None:
        *_, (_, layer, given, *_) = path
        if given and (layer.weights or rotates(layer)):
            # Other arguments than a tensor of one sentence are left out.
            with suppress(AttributeError, TypeError, ValueError):
                calls.append(Call(len(calls), path, rows_of(given[0]), rows_of(returned)))

    return keep


def rotates(layer: keras.layers.Layer) -> bool:
    """Whether a layer rotates queries and keys (N, H, d) by their positions."""
    return any(_ROTARY in each.__name__ for each in type(layer).__mro__)


def linear_of(call: Call) -> Linear | None:
    """The linear map (D, out) of a Dense or an EinsumDense without activation; None of another layer."""
    kernel = getattr(call.layer, "kernel", None)
    if kernel is None or call.given.ndim != 2:
        return None
    matrix = array_of(kernel)
    if matrix.size != call.given.shape[1] * call.returned.shape[1]:
        return None
    if equation := getattr(call.layer, "equation", ""):  # "btd,ndh->btnh": the kernel as (in, out)
        given, axes, returned = equation.replace("->", ",").split(",")
        order = [each for each in given if each in axes and each not in returned]
        order += [each for each in returned if each in axes and each != "."]
        matrix = matrix.transpose([axes.index(each) for each in order])
    matrix, bias = matrix.reshape(call.given.shape[1], -1), getattr(call.layer, "bias", None)
    shift = np.zeros(matrix.shape[1], np.float32) if bias is None else array_of(bias).reshape(-1)
    is_linear = near(call.given @ matrix + shift, call.returned)
    return Linear(call.place, call.given, call.returned, matrix, shift) if is_linear else None


def norm_of(call: Call) -> Norm | None:
    """The weights of a normalisation of (N, D), or of (N, H·d) by head; None of another layer.

    The layer is asked for its gamma and beta, because some add 1 to what they keep as gamma.
    """
    weights, epsilon = [array_of(each) for each in call.layer.weights], getattr(call.layer, "epsilon", None)
    epsilon = getattr(call.layer, "eps", 1e-6) if epsilon is None else epsilon
    width = weights[0].shape if weights else ()
    if (
        not isinstance(epsilon, float | int)
        or call.layer._flatten_layers(include_self=False)  # one that adds, too, takes no other rows
        or len(width) != 1
        or any(each.shape != width for each in weights[1:])
        or call.given.shape != call.returned.shape
        or call.given.shape[-1] % width[0]
    ):
        return None
    wave = np.cos(np.arange(*width))
    wave = ((wave - wave.mean()) / wave.std()).astype(np.float32)
    asked = np.stack([np.zeros_like(wave), np.ones_like(wave), wave])
    beta, of_ones, of_wave = rows_of(call.again(asked))
    how = Normalisation(float(epsilon), is_centred=np.allclose(of_ones, beta, atol=_NEAR))
    found = (of_wave - beta) / wave * np.float32((1 + how.epsilon) ** 0.5), beta
    # Kept numbers are not rounded.
    gamma, beta = (next((kept for kept in weights if near(kept, each)), each) for each in found)
    given, returned = (each.reshape(-1, *width) for each in (call.given, call.returned))
    is_norm = near(how.of(given, gamma, beta), returned)
    return Norm(call.place, call.given, call.returned, gamma, beta, how) if is_norm else None


def unembedding_of(call: Call) -> tuple[np.ndarray, np.ndarray]:
    """(V, D) and (V,): the kernel and the bias of the output layer, without its activation.

    A layer without a kernel, such as an embedding used backwards, is called with the rows of a unit matrix.
    """
    width = call.given.shape[1]
    if (found := getattr(call.layer, "kernel", None)) is not None:
        bias, kernel = getattr(call.layer, "bias", None), array_of(found).reshape(width, -1)
        return kernel.T, np.zeros(kernel.shape[1], np.float32) if bias is None else array_of(bias).reshape(-1)
    asked = np.concatenate([np.zeros((1, width), np.float32), np.eye(width, dtype=np.float32)])
    answers = rows_of(call.again(asked))
    return np.ascontiguousarray((answers[1:] - answers[0]).T), answers[0]


def table_of(call: Call, ids: list[int]) -> np.ndarray | None:
    """(V, D) of an Embedding that looked ``ids`` up; None of another layer."""
    found = getattr(call.layer, "embeddings", None)
    if found is None or call.given.shape != (len(ids),) or call.given.tolist() != ids:
        return None
    matrix = array_of(found)
    return matrix if near(matrix[ids], call.returned) else None


def replayed(readers: Sequence[Call], end: Call, entered: Tensor) -> Tensor:
    """(N, D) -> (1, N, out): the output of ``end`` where ``readers`` read ``entered`` in place of their rows.

    Keras computes it: the innermost call that encloses all of them is made again.
    """
    from keras import layers, ops

    around = [call for call, same in zip(readers[0].path, end.path, strict=False) if call is same][-1]
    found: list[Tensor] = []

    def called(layer: keras.layers.Layer, *given: Tensor, **named: object) -> Tensor:
        if any(layer is each.layer for each in readers):
            given = ops.cast(ops.expand_dims(entered, 0), given[0].dtype), *given[1:]
        returned = call(layer, *given, **named)
        if layer is not end.layer:
            return returned
        found.append(returned)
        # Behind it the call goes on with its own rows.
        return call(layer, *end.path[-1].given, **end.path[-1].named)

    with LOCK:
        call = layers.Layer.__call__  # not before: another thread may have replaced it
        with replaced(layers.Layer, "__call__", called), eager_functions():
            around.layer(*around.given, **around.named)
    return found[0]


def near(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays are equal but for rounding.

    >>> near(np.ones(2), np.ones(2) + 1e-6), near(np.ones(2), np.ones(3))
    (True, False)
    """
    return one.shape == other.shape and apart(one, other) < _NEAR


def rows_of(tensor: object) -> np.ndarray:
    """(1, N) as ids (N,), (1, N, …) as (N, the rest in one). Raises ValueError for more than one sentence."""
    import keras

    array = np.asarray(keras.ops.convert_to_numpy(tensor))
    if array.ndim < 2 or len(array) != 1:
        raise ValueError(f"one sentence is read, received {array.shape}")
    return array[0] if array.ndim == 2 else array[0].reshape(array.shape[1], -1).astype(np.float32)
