"""Traces of Keras networks, on TensorFlow, JAX or PyTorch: ``trace_keras`` listens to one pass.

B is 1 here; S source tokens, T tokens that the decoder reads, V vocabulary.
"""

import inspect
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from model.adapters.heard import HeardPass, Lengths, sorted_by_kind, stretched, with_masks, without_output
from model.adapters.keras_listening import listening
from model.adapters.listening import Ear, what_was_heard
from model.adapters.outputs import (
    Output,
    Token,
    answer,
    first_output,
    names,
    of_one_side,
    padding_of,
    probabilities,
)
from model.trace.arrays import plain_array
from model.trace.strict_npz import TraceError
from model.trace.trace import AttentionTrace

Inputs = Callable[..., Any]  # (source, target) -> what the model is called with


def trace_keras(
    model: Any,
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
    """One pass of a Keras network, seen from outside: a subclassed or functional model, or one of KerasHub, with ``keras.layers`` or
    with attention of its own that takes a softmax. The pass is eager, and ``training`` is False where the model asks.

    >>> trace_keras(transformer, [5, 3, 9, 0], [1, 7, 8, 2], token=words)  # doctest: +SKIP

    Args:
        source: S ids of one sentence; padding may stand at its end.
        target: 1 + T ids, the start mark first: the decoder reads all but the last, and produces all but the first.
            None for an encoder, a classifier, or a decoder alone (then ``source`` is what it reads).
        token: what names an id: a function, a list or a dictionary, such as a tokenizer's ``id_to_token``.
        target_token: the same for the target, where it has a vocabulary of its own.
        inputs: what the model is called with, from the source (1, S) and what the decoder reads (1, T). A tuple is
            several arguments: ``inputs=lambda source, target: (source, target, False, None)``. By default both are passed
            as the model's ``call`` asks for them, one by one or as a pair, or by the names that KerasHub uses.
        pad: the id of padding, which stands at the end of a text; None where no id is padding.
        heads: how many softmaxes of one head are a layer, where a network computes each head by itself. Heads in layers of their own
            that are called with the same arguments are found without it.
        output: what of all that is returned are logits or probabilities, (1, T, V): ``lambda returned: returned[1]``. By default the
            first one of that shape; ``lambda returned: None`` for a body without an output layer.

    Raises TraceError, which says why, where no attention was heard.
    """
    if not hasattr(model, "call"):
        advice = "Give the model itself, not a function of it such as tf.function(model)"
        raise TraceError("model", "be a Keras model", type(model).__name__, advice)
    ids = _sentence("source", source)
    written = None if target is None else _sentence("target", target)
    if written is not None and len(written) < 2:
        raise TraceError("target", "have a start mark and at least one token", len(written))
    labels = names(token, pad), names(token if target_token is None else target_token, pad)
    (heard, lengths), logits, ear = _pass(model, ids, written, inputs, pad, output)
    again = partial(_second_pass, model, ids, written, inputs, pad)
    found = sorted_by_kind(heard, lengths, again, heads)
    kinds: dict[str, Any] = found.attention
    if not kinds:
        raise TraceError("attention", "be heard", what_was_heard(heard), ear.reason())
    ear.tell_missed()
    if written is None:
        return of_one_side(found, ids, logits, labels[0], pad)
    trace = AttentionTrace(
        source_tokens=tuple(map(labels[0], ids)),
        target_tokens=tuple(map(labels[1], written[1:])),
        decoder_input_tokens=tuple(map(labels[1], written[:-1])),
        source_padding=tuple(padding_of("the source", ids, pad)),
        target_padding=tuple(padding_of("the target", written[1:], pad)),
        **kinds,
        **probabilities(logits, written[1:], labels[1]),
    )
    return with_masks(trace, found.masked)


def _second_pass(
    model: Any,
    ids: np.ndarray,
    written: np.ndarray | None,
    inputs: Inputs | None,
    pad: int | None,
    lengths: Lengths,
) -> HeardPass:
    """A pass with other ``lengths``, which ``sorted_by_kind`` needs where shapes do not tell what is what."""
    source, target = lengths
    other = None if written is None or target is None else stretched(written, target + 1)
    return _pass(model, stretched(ids, source), other, inputs, pad)[0]


def _pass(
    model: Any,
    ids: np.ndarray,
    written: np.ndarray | None,
    inputs: Inputs | None,
    pad: int | None,
    output: Output | None = None,
) -> tuple[HeardPass, np.ndarray | None, Ear]:
    """What was heard, the output (T, V) where there is one, and what heard it."""
    import keras

    tensors = [keras.ops.convert_to_tensor(ids[None])]
    if written is not None:
        tensors.append(keras.ops.convert_to_tensor(written[None, :-1]))
    given, named = by_name(model, arguments_of(model, tensors, inputs, pad))
    # The first call makes the weights, for which some backends call layers more than once.
    if not model.built:
        model(*given, **named)
    with listening(model) as ear:
        returned = model(*given, **named)
    if ear.is_random:
        warnings.warn(
            "dropout is on in this pass, so another one gives other weights: pass training=False to its layers",
            stacklevel=3,
        )
    lengths: Lengths = (len(ids), None if written is None else len(written) - 1)
    logits = first_output(returned, lengths[1] or lengths[0], output)
    return (without_output(ear.heard, answer(returned, logits)), lengths), logits, ear


def arguments_of(
    model: Any, tensors: list[Any], inputs: Inputs | None, pad: int | None = None
) -> tuple[Any, ...]:
    """The arguments of the model's call, from the ids of one side or of both."""
    if inputs is not None:
        given = inputs(*tensors)
        return given if isinstance(given, tuple) else (given,)
    if isinstance(inputs_by_name := getattr(model, "_inputs_struct", None), dict):
        return ({name: _named_input(name, tensors, pad) for name in inputs_by_name},)
    if len(tensors) == 1:
        return tuple(tensors)
    if getattr(model, "inputs", None):  # a functional model
        return (tensors,)
    asked = [
        each
        for each in _parameters(model)
        if each.default is each.empty
        and each.kind is each.POSITIONAL_OR_KEYWORD
        and each.name not in ("training", "mask")
    ]
    return tuple(tensors) if len(asked) > 1 else (tuple(tensors),)


def _named_input(name: str, tensors: list[Any], pad: int | None) -> Any:
    """An input in the names of KerasHub: ids, which of them are no padding, or which of two texts they belong to."""
    from keras import ops

    ids = tensors[-1] if name.startswith("decoder") else tensors[0]
    if "padding_mask" in name:
        return ops.ones_like(ids) if pad is None else ops.cast(ops.not_equal(ids, pad), ids.dtype)
    return ops.zeros_like(ids) if "segment" in name else ids


def _parameters(model: Any) -> list[inspect.Parameter]:
    return list(inspect.signature(model.call).parameters.values())


def by_name(model: Any, arguments: tuple[Any, ...]) -> tuple[list[Any], dict[str, Any]]:
    """What is passed by place and what by its name: Keras takes only tensors by place. ``training`` is False where ``call``
    takes it and ``arguments`` leave it open."""
    names = [each.name for each in _parameters(model)]
    places = next(
        (n for n, each in enumerate(arguments) if each is None or isinstance(each, bool | str)),
        len(arguments),
    )
    named = dict(zip(names[places:], arguments[places:], strict=False))
    if "training" in names[len(arguments) :]:
        named["training"] = False
    return list(arguments[:places]), named


def _sentence(name: str, ids: Any) -> np.ndarray:
    """(S,) int32; raises TraceError for a batch of several sentences, of which one has to be chosen."""
    found = plain_array(name, ids)
    if found.ndim == 2 and len(found) == 1:
        found = found[0]
    if found.ndim != 1 or not found.size or found.dtype.kind not in "iu":
        advice = f"Of a batch give one row, such as {name}[0]"
        raise TraceError(
            name, "be the ids of one sentence", f"{found.dtype} of the shape {found.shape}", advice
        )
    return found.astype(np.int32)
