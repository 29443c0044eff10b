"""Listening to one pass of a Keras network, on TensorFlow, JAX or PyTorch: what is replaced meanwhile."""

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any

from model.adapters.jax import beside
from model.adapters.listening import (
    FUSED,
    SOFTMAXES,
    SPELLED_OUT,
    Ear,
    loaded,
    of_softmax,
    replaced,
    replaced_everywhere,
)
from model.adapters.torch import spelled_out


@contextmanager
def listening(model: Any) -> Iterator[Ear]:
    """Each softmax that Keras or its backend takes inside the ``with`` is heard, and what is fused is spelled out."""
    import keras

    ear, layers, parts = Ear(), keras.layers, list(model._flatten_layers())
    with ExitStack() as stack:
        for owner, name in loaded([SPELLED_OUT["torch"]]):
            stack.enter_context(replaced_everywhere(owner, name, spelled_out(ear), parts))
        for owner, name in loaded([SPELLED_OUT["jax"]]):
            attend = beside(getattr(owner, name), ear.hearing(owner.softmax, of_softmax))
            stack.enter_context(replaced_everywhere(owner, name, attend, parts))
        for owner, name in loaded(SOFTMAXES):
            heard = ear.hearing(getattr(owner, name), of_softmax)
            stack.enter_context(replaced_everywhere(owner, name, heard, parts))
        for owner, name in loaded(FUSED):
            stack.enter_context(replaced_everywhere(owner, name, ear.noticing(getattr(owner, name)), parts))
        stack.enter_context(replaced(layers.Layer, "__call__", ear.inside(layers.Layer.__call__)))
        stack.enter_context(replaced(layers.Softmax, "call", ear.hearing(layers.Softmax.call, _of_layer)))
        for layer in (layers.MultiHeadAttention, layers.GroupQueryAttention):
            asked = ear.hearing(asked_for_scores(layer._compute_attention), _of_attention)
            stack.enter_context(replaced(layer, "_compute_attention", asked))
        stack.enter_context(replaced(layers.Dropout, "call", _noticing_dropout(layers.Dropout.call, ear)))
        stack.enter_context(eager_functions(keras.backend.backend()))
        yield ear


def _noticing_dropout(drop: Callable, ear: Ear) -> Callable:
    """``drop``; that it was on is remembered."""

    @wraps(drop)
    def noticed(layer, inputs, training=False):
        ear.is_random |= bool(training) and layer.rate > 0
        return drop(layer, inputs, training=training)

    return noticed


@contextmanager
def eager_functions(backend: str) -> Iterator[None]:
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


def asked_for_scores(compute: Callable) -> Callable:
    """``_compute_attention`` of a layer that returns its weights, too, and so takes no fused function."""
    takes_option = "return_attention_scores" in inspect.signature(compute).parameters

    @wraps(compute)
    def asked(self, *args, **kwargs):
        if takes_option:
            bound = inspect.signature(compute).bind(self, *args, **kwargs)
            bound.arguments["return_attention_scores"] = True
            return compute(*bound.args, **bound.kwargs)
        with replaced(self, "_return_attention_scores", True):
            return compute(self, *args, **kwargs)

    return asked


def _of_layer(result: Any, layer: Any, *_: Any, **__: Any) -> tuple[Any, int]:
    axis = layer.axis
    return result, axis[0] if isinstance(axis, list | tuple) else axis


def _of_attention(result: Any, *_: Any, **__: Any) -> tuple[Any, int]:
    return result[1], -1
