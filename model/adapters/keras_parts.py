"""The layers that a Keras network called during one pass, and what each of them computed, in NumPy.

What a layer is called does not say what it does. So a layer counts as linear, or as a normalisation, only if the weights read from it make
what it put out of what it was given.

N rows of one sentence (S or T), V ids that an embedding knows.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from model.adapters.listening import replaced
from model.trace.output_weights import Normalisation

NEAR = 1e-4  # of the largest number: how far two computations of one array may lie apart


class Call(NamedTuple):
    """One call of a layer that has weights and no layers inside."""

    layer: Any
    rest: tuple  # the arguments behind the first
    named: dict
    given: np.ndarray  # (N, in), or (N,) ids
    returned: np.ndarray  # (N, out)
    softmaxes: int  # how many were taken before


class Linear(NamedTuple):
    """What a Dense or an EinsumDense did: ``returned = activation(given @ kernel + bias)``."""

    place: int  # among the calls
    given: np.ndarray
    returned: np.ndarray
    kernel: np.ndarray  # (in, out)
    bias: np.ndarray  # (out,)
    activation: Callable | None  # None where it is linear
    softmaxes: int

    @property
    def before(self) -> np.ndarray:
        """(N, out) before the activation."""
        return self.given @ self.kernel + self.bias


class Norm(NamedTuple):
    """What a normalisation did."""

    place: int  # among the calls
    given: np.ndarray
    returned: np.ndarray
    gamma: np.ndarray
    beta: np.ndarray
    normalisation: Normalisation


@contextmanager
def recorded(softmaxes: Callable[[], int]) -> Iterator[list[Call]]:
    """The calls of layers inside the ``with``, of networks that read one sentence. ``softmaxes``: how many were taken until now."""
    import keras

    calls: list[Call] = []
    base = keras.layers.Layer
    call = base.__call__

    @wraps(call)
    def heard(layer, *args, **kwargs):
        before, returned = softmaxes(), call(layer, *args, **kwargs)
        if layer.weights and not layer._flatten_layers(include_self=False) and args:
            with suppress(AttributeError, TypeError, ValueError):  # what is no tensor of one sentence
                arrays = (_rows(args[0]), _rows(returned))
                calls.append(Call(layer, args[1:], kwargs, *arrays, before))
        return returned

    with replaced(base, "__call__", heard):
        yield calls


def linear(place: int, call: Call) -> Linear | None:
    """The weights of a call of a Dense or an EinsumDense; None of another layer."""
    kernel, activation = getattr(call.layer, "kernel", None), getattr(call.layer, "activation", None)
    if kernel is None or call.given.ndim != 2:
        return None
    matrix = as_array(kernel)
    if matrix.size != call.given.shape[1] * call.returned.shape[1]:
        return None
    matrix = matrix.reshape(call.given.shape[1], -1)
    bias = getattr(call.layer, "bias", None)
    shift = np.zeros(matrix.shape[1], np.float32) if bias is None else as_array(bias).reshape(-1)
    if getattr(activation, "__name__", "") == "linear":
        activation = None
    found = Linear(place, call.given, call.returned, matrix, shift, activation, call.softmaxes)
    made = found.before if activation is None else applied(activation)(found.before)
    return found if near(made, call.returned) else None


def norm(place: int, call: Call) -> Norm | None:
    """The weights of a call of a normalisation over the last axis, of Keras or written by hand; None of another layer."""
    width = call.returned.shape[-1]
    weights = [as_array(each) for each in call.layer.weights]
    if call.given.shape != call.returned.shape or any(each.shape != (width,) for each in weights):
        return None
    if not 1 <= len(weights) <= 2:
        return None
    epsilon = getattr(call.layer, "epsilon", getattr(call.layer, "eps", 1e-6))
    gamma, beta = (*weights, np.zeros(width, np.float32))[:2]
    if not isinstance(epsilon, float | int):
        return None
    for how in (Normalisation(float(epsilon)), Normalisation(float(epsilon), is_centred=False)):
        if near(how.of(call.given, gamma, beta), call.returned):
            return Norm(place, call.given, call.returned, gamma, beta, how)
    return None


def output_layer(call: Call) -> tuple[np.ndarray, np.ndarray]:
    """(out, in) and (out,): what a call multiplies its input by, and what it adds, without its activation.

    A layer of which nothing is known, such as an embedding used backwards, is asked for the rows of a unit matrix.
    """
    import keras

    found = getattr(call.layer, "kernel", None)
    if found is not None:
        bias = getattr(call.layer, "bias", None)
        kernel = as_array(found).reshape(call.given.shape[1], -1)
        return kernel.T, np.zeros(kernel.shape[1], np.float32) if bias is None else as_array(bias).reshape(-1)
    width = call.given.shape[1]
    asked = np.concatenate([np.zeros((1, width), np.float32), np.eye(width, dtype=np.float32)])
    told = _rows(call.layer(keras.ops.convert_to_tensor(asked[None]), *call.rest, **call.named))
    return np.ascontiguousarray((told[1:] - told[0]).T), told[0]


def table(call: Call, ids: list[int]) -> np.ndarray | None:
    """(V, D) of a call that looked ``ids`` up; None of another layer."""
    found = getattr(call.layer, "embeddings", None)
    if found is None or call.given.shape != (len(ids),) or call.given.tolist() != ids:
        return None
    matrix = as_array(found)
    return matrix if near(matrix[ids], call.returned) else None


def ids_in_tables(tables: Iterable[np.ndarray | None], count: int) -> list[int]:
    """At most ``count`` ids other than 0, far apart, that all of the ``tables`` (V, D) hold; none without a table."""
    known = min((len(each) for each in tables if each is not None), default=0)
    return np.unique(np.linspace(1, known - 1, count).astype(int)).tolist() if known else []


def applied(activation: Callable) -> Callable[[np.ndarray], np.ndarray]:
    """A function of Keras on arrays."""
    import keras

    return lambda array: as_array(activation(keras.ops.convert_to_tensor(array)))


def near(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays are one but for rounding."""
    return one.shape == other.shape and apart(one, other) < NEAR


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference, as a share of the largest number."""
    return float(np.abs(one - other).max() / max(np.abs(other).max(), 1e-12))


def as_array(tensor: Any) -> np.ndarray:
    """A tensor of Keras as float32."""
    import keras

    return np.asarray(keras.ops.convert_to_numpy(tensor)).astype(np.float32)


def _rows(tensor: Any) -> np.ndarray:
    """(1, N) as ids (N,), (1, N, ...) as (N, the rest in one). Raises ValueError for more than one sentence."""
    import keras

    array = np.asarray(keras.ops.convert_to_numpy(tensor))
    if array.ndim < 2 or len(array) != 1:
        raise ValueError(f"one sentence is read, received {array.shape}")
    return array[0] if array.ndim == 2 else array[0].reshape(array.shape[1], -1).astype(np.float32)
