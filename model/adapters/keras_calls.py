"""Recorded calls of the layers in a Keras pass: linear maps, normalisations, embeddings.

N rows of a sentence, H heads, d their width, Q query and K key positions, D d_model, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from model.adapters.capture import Function, Observing
from model.adapters.own_passes import array_of
from model.adapters.own_stream import of_each_head
from model.trace.interventions import Normalisation

if TYPE_CHECKING:
    import keras

_NEAR = 1e-4  # of the largest number: the tolerance between two computations of one array
_ROTARY = "RotaryEmbedding"  # the class of layers that rotate queries and keys, as in KerasHub
_ACTIVATIONS = ("relu", "gelu", "silu", "tanh", "elu", "selu", "leaky_relu", "relu6")


class Call(NamedTuple):
    """One call of a layer that has weights and no layers inside."""

    layer: keras.layers.Layer
    rest: tuple  # the arguments after the first
    named: dict[str, object]
    given: np.ndarray  # (N, in), or (N,) ids
    returned: np.ndarray  # (N, out)
    softmaxes: int  # computed before it


class Recorded(NamedTuple):
    """One pass with the calls of its layers."""

    sides: list[list[int]]  # the ids of the source and of the read target, or of one sequence
    calls: list[Call]
    weights: list[np.ndarray]  # (H, Q, K) of each softmax
    order: list[tuple[str, int] | None]  # the kind and the layer of each softmax
    logits: np.ndarray  # (T, V)


Recording = Callable[..., Recorded]  # (ids of each side) -> the pass


class Linear(NamedTuple):
    """A Dense or EinsumDense layer: ``returned = activation(given @ kernel + bias)``."""

    place: int  # among the calls
    given: np.ndarray
    returned: np.ndarray
    kernel: np.ndarray  # (in, out)
    bias: np.ndarray  # (out,)
    activation: Function | None  # None where it is linear
    norm: Norm | None = None  # that each head of a query or a key is given to

    def of(self, given: np.ndarray) -> np.ndarray:
        """(N, in) -> (N, out) before the activation."""
        return given @ self.kernel + self.bias

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

    def keep(
        layer: keras.layers.Layer, given: tuple, named: dict[str, object], returned: object, softmaxes: int
    ) -> None:
        is_inner = layer.weights and not layer._flatten_layers(include_self=False)
        if (is_inner or rotates(layer)) and given:
            # Other arguments than a tensor of one sentence are left out.
            with suppress(AttributeError, TypeError, ValueError):
                rows = rows_of(given[0]), rows_of(returned)
                calls.append(Call(layer, given[1:], named, *rows, softmaxes))

    return keep


def rotates(layer: keras.layers.Layer) -> bool:
    """Whether a layer rotates queries and keys (N, H, d) by their positions."""
    return any(_ROTARY in each.__name__ for each in type(layer).__mro__)


def linear_of(place: int, call: Call) -> Linear | None:
    """The linear map (D, out) of a Dense or an EinsumDense; None of another layer."""
    kernel, activation = getattr(call.layer, "kernel", None), getattr(call.layer, "activation", None)
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
    if getattr(activation, "__name__", "") == "linear":
        activation = None
    found = Linear(place, call.given, call.returned, matrix, shift, activation)
    made = found.of(call.given) if activation is None else _applied(activation)(found.of(call.given))
    return found if near(made, call.returned) else None


def norm_of(place: int, call: Call) -> Norm | None:
    """The weights of a normalisation of (N, D), or of (N, H·d) by head; None of another layer.

    Some layers add 1 to what they keep as gamma.
    """
    weights = [array_of(each) for each in call.layer.weights]
    epsilon = getattr(call.layer, "epsilon", getattr(call.layer, "eps", 1e-6))
    if (
        not isinstance(epsilon, float | int)
        or len(weights) not in (1, 2)
        or call.given.shape != call.returned.shape
    ):
        return None
    gamma, beta = (*weights, np.zeros_like(weights[0]))[:2]
    if gamma.ndim != 1 or gamma.shape != beta.shape or call.given.shape[-1] % len(gamma):
        return None
    given, returned = (each.reshape(-1, len(gamma)) for each in (call.given, call.returned))
    for is_centred, plus in product((True, False), (0, 1)):
        how = Normalisation(float(epsilon), is_centred=is_centred)
        if near(how.of(given, gamma + plus, beta), returned):
            return Norm(place, call.given, call.returned, gamma + plus, beta, how)
    return None


def unembedding_of(call: Call) -> tuple[np.ndarray, np.ndarray]:
    """(V, D) and (V,): the kernel and the bias of the output layer, without its activation.

    A layer without a kernel, such as an embedding used backwards, is called with the rows of a unit matrix.
    """
    import keras

    width = call.given.shape[1]
    if (found := getattr(call.layer, "kernel", None)) is not None:
        bias, kernel = getattr(call.layer, "bias", None), array_of(found).reshape(width, -1)
        return kernel.T, np.zeros(kernel.shape[1], np.float32) if bias is None else array_of(bias).reshape(-1)
    asked = np.concatenate([np.zeros((1, width), np.float32), np.eye(width, dtype=np.float32)])
    answers = rows_of(call.layer(keras.ops.convert_to_tensor(asked[None]), *call.rest, **call.named))
    return np.ascontiguousarray((answers[1:] - answers[0]).T), answers[0]


def table_of(call: Call, ids: list[int]) -> np.ndarray | None:
    """(V, D) of an Embedding that looked ``ids`` up; None of another layer."""
    found = getattr(call.layer, "embeddings", None)
    if found is None or call.given.shape != (len(ids),) or call.given.tolist() != ids:
        return None
    matrix = array_of(found)
    return matrix if near(matrix[ids], call.returned) else None


def gated(
    function: Callable[[np.ndarray], np.ndarray], opened: Linear, gate: Linear | None, x: np.ndarray
) -> np.ndarray:
    """The hidden layer (N, F) of a feed-forward network, times its gate where it has one."""
    made = function(opened.of(x))
    return made if gate is None else made * gate.of(x)


def functions_of(opened: Linear) -> list[Callable[[np.ndarray], np.ndarray]]:
    """The activation (N, F) -> (N, F) of a layer, or those that may be written behind it."""
    import keras

    if opened.activation is not None:
        return [_applied(opened.activation)]
    known = [_applied(getattr(keras.activations, name)) for name in _ACTIVATIONS]
    return [*known, _applied(lambda hidden: keras.activations.gelu(hidden, approximate=True))]


def _applied(activation: Function) -> Callable[[np.ndarray], np.ndarray]:
    """A function of Keras on arrays."""
    import keras

    return lambda array: array_of(activation(keras.ops.convert_to_tensor(array)))


def near(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays are equal but for rounding.

    >>> near(np.ones(2), np.ones(2) + 1e-6), near(np.ones(2), np.ones(3))
    (True, False)
    """
    return one.shape == other.shape and apart(one, other) < _NEAR


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference, as a share of the largest number.

    >>> apart(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    0.5
    """
    return float(np.abs(one - other).max() / max(np.abs(other).max(), 1e-12))


def rows_of(tensor: object) -> np.ndarray:
    """(1, N) as ids (N,), (1, N, …) as (N, the rest in one). Raises ValueError for more than one sentence."""
    import keras

    array = np.asarray(keras.ops.convert_to_numpy(tensor))
    if array.ndim < 2 or len(array) != 1:
        raise ValueError(f"one sentence is read, received {array.shape}")
    return array[0] if array.ndim == 2 else array[0].reshape(array.shape[1], -1).astype(np.float32)
