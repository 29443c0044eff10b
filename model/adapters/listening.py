"""Softmaxes that a network of Keras takes, heard while it runs, whatever its backend."""

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any

import numpy as np

from model.adapters.heard import as_maps
from model.trace.arrays import plain_array
from model.trace.strict_npz import TraceError

# Whatever a layer calls, in the end the backend's library takes the softmax: (module, the name in it).
_SOFTMAXES = (
    ("tensorflow.nn", "softmax"),
    ("jax.nn", "softmax"),
    ("torch", "softmax"),
    ("torch.nn.functional", "softmax"),
    ("torch", "Tensor.softmax"),
)
_FUSED = (
    ("jax.nn", "dot_product_attention"),
    ("torch.nn.functional", "scaled_dot_product_attention"),
)


@contextmanager
def listening() -> Iterator[tuple[list[np.ndarray], list[str]]]:
    """The maps (H, Q, K) of each softmax that is taken meanwhile, and why some were not heard.

    Functions of the libraries are replaced until the end of the ``with``, and put back whatever happens. Of a softmax that
    calls another one the outer is heard: a layer may set rows of padding to 0 afterwards.
    """
    import keras

    heard: list[np.ndarray] = []
    missed: list[str] = []
    inside = [0]  # how many listening functions are being called, one by the other

    def hearing(function: Callable, weights_of: Callable[..., tuple[Any, Any]]) -> Callable:
        @wraps(function)
        def listened(*args, **kwargs):
            inside[0] += 1
            try:
                result = function(*args, **kwargs)
            finally:
                inside[0] -= 1
            if not inside[0]:
                weights, axis = weights_of(result, *args, **kwargs)
                try:
                    heard.append(as_maps(plain_array("softmax", weights), axis))
                except TraceError:
                    missed.append(
                        "a softmax ran inside a compiled function (tf.function, jit, scan): call it eagerly"
                    )
            return result

        return listened

    def noticing(function: Callable) -> Callable:
        @wraps(function)
        def noticed(*args, **kwargs):
            if not inside[0]:
                missed.append(
                    f"{function.__name__} is fused and keeps no weights: use attention that takes a softmax"
                )
            return function(*args, **kwargs)

        return noticed

    with ExitStack() as stack:
        for owner, name in _found(_SOFTMAXES):
            stack.enter_context(_replaced(owner, name, hearing(getattr(owner, name), _of_function)))
        for owner, name in _found(_FUSED):
            stack.enter_context(_replaced(owner, name, noticing(getattr(owner, name))))
        layers = keras.layers
        stack.enter_context(_replaced(layers.Softmax, "call", hearing(layers.Softmax.call, _of_layer)))
        for layer in (layers.MultiHeadAttention, layers.GroupQueryAttention):
            asked = _asked_for_scores(layer._compute_attention)
            stack.enter_context(_replaced(layer, "_compute_attention", hearing(asked, _of_attention)))
        stack.enter_context(_eager_functions(keras.backend.backend()))
        yield heard, missed


def _found(places: Sequence[tuple[str, str]]) -> Iterator[tuple[Any, str]]:
    """(owner, name) of those functions whose library is loaded; no other one can be the backend's."""
    for module, path in places:
        owner = sys.modules.get(module)
        if owner is None and module.startswith("tensorflow") and "tensorflow" in sys.modules:
            owner = sys.modules["tensorflow"].nn
        *outer, name = path.split(".")
        for each in outer:
            owner = getattr(owner, each, None)
        if hasattr(owner, name):
            yield owner, name


@contextmanager
def _replaced(owner: Any, name: str, new: Any) -> Iterator[None]:
    old = getattr(owner, name)
    setattr(owner, name, new)
    try:
        yield
    finally:
        setattr(owner, name, old)


@contextmanager
def _eager_functions(backend: str) -> Iterator[None]:
    """A ``tf.function``, or a loop of JAX, inside the model runs as plain Python meanwhile, so that its numbers can be read."""
    if backend == "jax":
        with sys.modules["jax"].disable_jit():
            yield
    elif backend == "tensorflow":
        configuration = sys.modules["tensorflow"].config
        before = configuration.functions_run_eagerly()
        configuration.run_functions_eagerly(True)
        try:
            yield
        finally:
            configuration.run_functions_eagerly(before)
    else:
        yield


def _asked_for_scores(compute: Callable) -> Callable:
    """``_compute_attention`` of a layer that returns its weights, too, and so takes no fused function."""
    takes_option = "return_attention_scores" in inspect.signature(compute).parameters

    @wraps(compute)
    def asked(self, *args, **kwargs):
        if takes_option:
            bound = inspect.signature(compute).bind(self, *args, **kwargs)
            bound.arguments["return_attention_scores"] = True
            return compute(*bound.args, **bound.kwargs)
        with _replaced(self, "_return_attention_scores", True):
            return compute(self, *args, **kwargs)

    return asked


def _of_function(result: Any, *args: Any, **kwargs: Any) -> tuple[Any, int]:
    axis = kwargs.get("axis", kwargs.get("dim", args[1] if len(args) > 1 else -1))
    return result, -1 if axis is None else axis


def _of_layer(result: Any, layer: Any, *_: Any, **__: Any) -> tuple[Any, int]:
    axis = layer.axis
    return result, axis[0] if isinstance(axis, list | tuple) else axis


def _of_attention(result: Any, *_: Any, **__: Any) -> tuple[Any, int]:
    return result[1], -1
