"""``trace_keras``: the attention of one pass of a Keras network, on any backend.

B is 1 here; S source tokens, T tokens that the decoder reads, V vocabulary, H heads, Q query and K key
positions.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from model.adapters.capture import Capture, Function, Parts, check_same_pass, loaded, replaced
from model.adapters.torch import spelled_out
from model.adapters.trace_building import (
    CapturedPass,
    Lengths,
    Output,
    Side,
    Token,
    captured_pass,
    names,
    trace_of,
)
from model.trace.checks import plain_array
from model.trace.strict_npz import TraceError
from model.trace.trace import AttentionTrace

if TYPE_CHECKING:
    import keras
    from jax import Array
    from keras import KerasTensor as Tensor
    from keras import layers

Inputs = Function  # (source, target) -> the arguments of the model
# Fused attention that is replaced by its steps.
TORCH_FUSED = ("torch.nn.functional", "scaled_dot_product_attention")
JAX_FUSED = ("jax.nn", "dot_product_attention")


def trace_keras(
    model: keras.Model,
    source: Sequence[int],
    target: Sequence[int] | None = None,
    *,
    token: Token = str,
    target_token: Token | None = None,
    inputs: Inputs | None = None,
    pad: int | None = 0,
    heads: int | None = None,
    output: Output | None = None,
) -> AttentionTrace:
    """Trace one eager pass of a Keras network: subclassed, functional, or of KerasHub.

    Captured are ``keras.layers``, fused attention and every softmax. ``training`` is False where the model
    takes it.

    >>> trace_keras(transformer, [5, 3, 9, 0], [1, 7, 8, 2], token=words)  # doctest: +SKIP

    Args:
        model: the network itself, not a compiled function of it.
        source: S ids of one sentence; padding may follow.
        target: 1 + T ids, the start mark first: the decoder reads all but the last, and produces all but the
            first. None for an encoder, a classifier, or a decoder-only network, which reads ``source``.
        token: names an id: a function, a list or a dictionary, such as a tokenizer's ``id_to_token``.
        target_token: the same for the target, where its vocabulary is another one.
        inputs: the model's arguments, from the source (1, S) and the read target (1, T). A tuple is several
            arguments: ``inputs=lambda source, target: (source, target, False, None)``. By default both are
            passed as the model's ``call`` asks for them, one by one or as a pair, or by the names that
            KerasHub uses.
        pad: the id of padding, always at the end of a text; None where no id is padding.
        heads: how many softmaxes of one head are a layer, where a network computes each head by itself. Heads
            in separate layers that are called with the same arguments are joined without it.
        output: the logits or probabilities (1, T, V) of the returned value: ``lambda returned: returned[1]``.
            By default the first tensor of that shape; ``lambda returned: None`` for a body without an output
            layer.

    Raises:
        TraceError: for attention that cannot be captured, and for a pass that differs from the network's own.
    """
    if not hasattr(model, "call"):
        advice = "Give the model itself, not a function of it such as tf.function(model)"
        raise TraceError("model", "be a Keras model", type(model).__name__, advice)
    ids = _sentence("source", source)
    written = None if target is None else _sentence("target", target)
    if written is not None and len(written) < 2:
        raise TraceError("target", "have a start mark and at least one token", len(written))
    call, first = KerasCall(model, inputs, pad), (len(ids), None if written is None else len(written) - 1)

    def run(lengths: Lengths) -> CapturedPass:
        sides = [_stretched(ids, lengths[0])]
        if written is not None and lengths[1] is not None:
            sides.append(_stretched(written, lengths[1] + 1)[:-1])
        capture = Capture()
        with captured(capture, Parts(model._flatten_layers())):
            returned = call(sides)
        if lengths == first:
            check_same_pass(own, returned, model.name)
        return captured_pass(capture, lengths, returned, output)

    own = call([ids] if written is None else [ids, written[:-1]])  # makes the weights, too
    side, read, produced = Side(ids, names(token, pad), pad), None, None
    if written is not None:
        read, produced = Side(written[:-1], names(target_token or token, pad), pad), written[1:]
    return trace_of(side, read, run, heads, produced)


def _sentence(name: str, ids: object) -> np.ndarray:
    """(S,) int32; raises TraceError for a batch of several sentences."""
    found = plain_array(name, ids)
    if found.ndim == 2 and len(found) == 1:
        found = found[0]
    if found.ndim != 1 or not found.size or found.dtype.kind not in "iu":
        advice = f"Of a batch give one row, such as {name}[0]"
        raise TraceError(
            name, "be the ids of one sentence", f"{found.dtype} of the shape {found.shape}", advice
        )
    return found.astype(np.int32)


def _stretched(ids: np.ndarray, length: int) -> np.ndarray:
    """The first ``length`` ids; missing ones repeat the last.

    >>> _stretched(np.array([5, 3]), 4).tolist()
    [5, 3, 3, 3]
    """
    return ids[np.minimum(np.arange(length), len(ids) - 1)]


@dataclass(frozen=True)
class KerasCall:
    """Calls a model with the ids of one side, or of both."""

    model: keras.Model
    inputs: Inputs | None = None
    pad: int | None = None

    def __call__(self, sides: Sequence[np.ndarray | Sequence[int]]) -> Any:
        """The returned value for ids (S,) and (T,), or for those of one sequence."""
        from keras import ops

        parameters = list(inspect.signature(self.model.call).parameters.values())
        arguments = self._arguments(
            [ops.convert_to_tensor(np.array([ids], np.int32)) for ids in sides], parameters
        )
        by_name = [each.name for each in parameters]
        # Keras takes only tensors by position.
        plain = (n for n, each in enumerate(arguments) if each is None or isinstance(each, bool | str))
        count = next(plain, len(arguments))
        named = dict(zip(by_name[count:], arguments[count:], strict=False))
        if "training" in by_name[len(arguments) :]:
            named["training"] = False
        return self.model(*arguments[:count], **named)

    def _arguments(self, tensors: list[Tensor], parameters: list[inspect.Parameter]) -> tuple:
        if self.inputs is not None:
            given = self.inputs(*tensors)
            return given if isinstance(given, tuple) else (given,)
        if isinstance(by_name := getattr(self.model, "_inputs_struct", None), dict):
            return ({name: self._named_input(name, tensors) for name in by_name},)
        if len(tensors) == 1:
            return tuple(tensors)
        if getattr(self.model, "inputs", None):  # a functional model
            return (tensors,)
        asked = [
            each
            for each in parameters
            if each.default is each.empty
            and each.kind is each.POSITIONAL_OR_KEYWORD
            and each.name not in ("training", "mask")
        ]
        return tuple(tensors) if len(asked) > 1 else (tuple(tensors),)

    def _named_input(self, name: str, tensors: list[Tensor]) -> Tensor:
        """An input in the names of KerasHub: ids, their padding mask, or the text that they belong to."""
        from keras import ops

        ids = tensors[-1] if name.startswith("decoder") else tensors[0]
        if "padding_mask" in name:
            return (
                ops.ones_like(ids) if self.pad is None else ops.cast(ops.not_equal(ids, self.pad), ids.dtype)
            )
        return ops.zeros_like(ids) if "segment" in name else ids


@contextmanager
def captured(capture: Capture, parts: Parts) -> Iterator[None]:
    """Capture, or replace, the weights (H, Q, K) of each softmax of Keras or its backend.

    Fused attention is computed step by step.
    """
    from keras import layers

    with ExitStack() as stack:
        for owner, name in loaded([TORCH_FUSED]):
            stack.enter_context(parts.replaced(owner, name, spelled_out(capture)))
        for owner, name in loaded([JAX_FUSED]):
            attend = spelled_out_jax(capture.softmax(owner.softmax))
            stack.enter_context(parts.replaced(owner, name, attend))
        capture.replace_softmaxes(stack, parts)
        stack.enter_context(replaced(layers.Layer, "__call__", capture.layer_call(layers.Layer.__call__)))
        softmax = capture.softmax(layers.Softmax.call, _of_softmax_layer)
        stack.enter_context(replaced(layers.Softmax, "call", softmax))
        stack.enter_context(eager_functions())
        yield


def _of_softmax_layer(layer: layers.Softmax, *_: object, **__: object) -> int:
    axis = layer.axis
    return axis[0] if isinstance(axis, list | tuple) else axis


@contextmanager
def eager_functions() -> Iterator[None]:
    """Functions that TensorFlow or JAX would compile run as plain Python.

    Their numbers can be read then.
    """
    import keras

    if keras.backend.backend() == "jax":
        with sys.modules["jax"].disable_jit():
            yield
    elif keras.backend.backend() == "tensorflow":
        configuration = sys.modules["tensorflow"].config
        before = configuration.functions_run_eagerly()
        configuration.run_functions_eagerly(True)
        try:
            yield
        finally:
            configuration.run_functions_eagerly(before)
    else:
        yield


def spelled_out_jax(softmax: Function) -> Function:
    """``jax.nn.dot_product_attention`` in the steps of its documentation, around ``softmax``.

    It is called with scores (B, H, Q, K).
    """
    import jax.numpy as jnp

    def attended(
        query: Array, key: Array, value: Array, bias: Array | None = None, mask: Array | None = None, *,
        scale: float | None = None, is_causal: bool = False, **_: object,
    ) -> Array:  # fmt: skip
        """(B, Q, H, d) of queries (B, Q, H, d), keys and values (B, K, H, d)."""
        groups, length = query.shape[-2] // key.shape[-2], (query.shape[-3], key.shape[-3])
        keys, values = (jnp.repeat(each, groups, axis=-2) for each in (key, value))
        scores = jnp.einsum("...qhd,...khd->...hqk", query, keys)
        scores = scores * (query.shape[-1] ** -0.5 if scale is None else scale)
        seen = jnp.ones(length, bool) if mask is None else mask
        if is_causal:
            seen = seen & jnp.tri(*length, dtype=bool)
        scores = jnp.where(seen, scores if bias is None else scores + bias, jnp.finfo(scores.dtype).min)
        return jnp.einsum("...hqk,...khd->...qhd", softmax(scores, axis=-1), values)

    return attended
