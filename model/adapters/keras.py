"""Traces of Keras networks, on TensorFlow, JAX or PyTorch: ``trace_keras`` listens to one pass.

B is 1 here; S source tokens, T tokens that the decoder reads, V vocabulary, A alternatives.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from model.adapters.heard import Lengths, Pass, is_causal, sorted_by_kind, without_output
from model.adapters.listening import listening
from model.adapters.outputs import Token, names, probabilities
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
    pad: int = 0,
) -> AttentionTrace:
    """One pass of a Keras network, seen from outside: a subclassed or functional model, with ``keras.layers`` or with
    attention of its own that takes a softmax. The pass is eager, and ``training`` is False where the model asks.

    >>> trace_keras(transformer, [5, 3, 9, 0], [1, 7, 8, 2], token=words)  # doctest: +SKIP

    Args:
        source: S ids of one sentence; padding may stand at its end.
        target: 1 + T ids, the start mark first: the decoder reads all but the last, and produces all but the first.
            None for an encoder, a classifier, or a decoder alone (then ``source`` is what it reads).
        token: what names an id: a function, a list or a dictionary, such as a tokenizer's ``id_to_token``.
        target_token: the same for the target, where it has a vocabulary of its own.
        inputs: what the model is called with, from the source (1, S) and what the decoder reads (1, T). A tuple is
            several arguments: ``inputs=lambda source, target: (source, target, False, None)``. By default both are passed
            as the model's ``call`` asks for them, one by one or as a pair.
        pad: the id of padding.

    The first output of the shape (1, T, V) gives the probabilities of what was produced; it may be logits, too.

    Raises TraceError, which says why, where no attention was heard.
    """
    ids = _sentence("source", source)
    written = None if target is None else _sentence("target", target)
    if written is not None and len(written) < 2:
        raise TraceError("target", "have a start mark and at least one token", len(written))
    named = names(token, pad), names(token if target_token is None else target_token, pad)
    (heard, lengths), output, missed = _pass(model, ids, written, inputs)
    kinds = sorted_by_kind(heard, lengths, lambda: _second_pass(model, ids, written, inputs))
    if not kinds:
        raise TraceError("attention", "be heard", _what_was_heard(heard), _reason(missed))
    if written is None:
        return _of_one_side(kinds, ids, output, named[0], pad)
    return AttentionTrace(
        source_tokens=tuple(map(named[0], ids)),
        target_tokens=tuple(map(named[1], written[1:])),
        decoder_input_tokens=tuple(map(named[1], written[:-1])),
        source_padding=tuple(ids == pad),
        target_padding=tuple(written[1:] == pad),
        **kinds,
        **probabilities(output, written[1:], named[1]),
    )


def _of_one_side(
    kinds: dict, ids: np.ndarray, output: np.ndarray | None, name: Callable, pad: int
) -> AttentionTrace:
    """The trace of an encoder, of a decoder alone where nothing looks ahead, or of one row that looks at all tokens."""
    tokens, padding = tuple(map(name, ids)), tuple(ids == pad)
    own = kinds.get("encoder_attention")
    if own is None or not is_causal(own):
        row: dict[str, Any] = {"target_tokens": ("output",)} if "cross_attention" in kinds else {}
        return AttentionTrace(source_tokens=tokens, source_padding=padding, **row, **kinds)
    likeliest = ids[-1:] if output is None else output[-1:].argmax(-1)
    written = np.concatenate([ids[1:], likeliest])
    return AttentionTrace(
        target_tokens=tuple(map(name, written)),
        decoder_input_tokens=tokens,
        decoder_attention=own,
        target_padding=(*padding[1:], padding[-1]),
        **probabilities(output, written, name),
    )


def _second_pass(
    model: Any, ids: np.ndarray, written: np.ndarray | None, inputs: Inputs | None
) -> Pass | None:
    """A pass over one more target token, or over one fewer where the model takes no more; None where it takes neither."""
    assert written is not None
    for other in (np.append(written, written[-1]), written[:-1]):
        if len(other) > 1:
            with suppress(
                Exception
            ):  # a length that the model was not built for: each library has its own kind
                return _pass(model, ids, other, inputs)[0]
    return None


# --- one pass ---


def _pass(
    model: Any, ids: np.ndarray, written: np.ndarray | None, inputs: Inputs | None
) -> tuple[Pass, np.ndarray | None, list[str]]:
    """What was heard, the output (T, V) where there is one, and why something was not heard."""
    import keras

    tensors = [keras.ops.convert_to_tensor(ids[None])]
    if written is not None:
        tensors.append(keras.ops.convert_to_tensor(written[None, :-1]))
    given, named = _by_name(model, _arguments(model, tensors, inputs))
    with listening() as (heard, missed):
        returned = model(*given, **named)
    lengths: Lengths = (len(ids), None if written is None else len(written) - 1)
    output = _output(returned, lengths[1] or lengths[0])
    return (without_output(heard, output), lengths), output, missed


def _arguments(model: Any, tensors: list[Any], inputs: Inputs | None) -> tuple[Any, ...]:
    if inputs is not None:
        given = inputs(*tensors)
        return given if isinstance(given, tuple) else (given,)
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


def _parameters(model: Any) -> list[inspect.Parameter]:
    return list(inspect.signature(model.call).parameters.values())


def _by_name(model: Any, arguments: tuple[Any, ...]) -> tuple[list[Any], dict[str, Any]]:
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


def _output(returned: Any, rows: int) -> np.ndarray | None:
    """(rows, V), the first of what a model returned that has this shape; of named outputs only the logits."""
    if isinstance(returned, Mapping):
        returned = returned.get("logits")
    for each in returned if isinstance(returned, list | tuple) else [returned]:
        shape = tuple(getattr(each, "shape", ()))
        if len(shape) == 3 and shape[:2] == (1, rows):
            return plain_array("output", each)[0].astype(np.float32)
    return None


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


def _what_was_heard(heard: Sequence[np.ndarray]) -> str:
    shapes = sorted({maps.shape for maps in heard})
    return f"softmaxes of the shapes (heads, rows, columns) {shapes}" if shapes else "no softmax"


def _reason(missed: Sequence[str]) -> str:
    if missed:
        return "; ".join(dict.fromkeys(missed))
    return "Attention is heard where keras.layers, keras.ops.softmax or the backend's own softmax takes it"
