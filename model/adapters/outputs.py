"""What a network read and wrote: names of ids, and probabilities from its output. T rows, V vocabulary, A alternatives."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from model.adapters.heard import Sorted, prefix_of, with_masks
from model.trace.arrays import plain_array
from model.trace.strict_npz import TraceError
from model.trace.trace import AttentionTrace

Output = Callable[[Any], Any]  # what a model returned -> its logits or probabilities, None where it has none
Token = Callable[[int], Any] | Mapping[int, str] | Sequence[str]  # what names an id
_ALTERNATIVES = 5
# A row of probabilities in half precision sums to 1 within this; see ``model.trace.rows``.
_ROW_TOLERANCE = 1e-2


def names(token: Token, pad: int | None) -> Callable[[int], str]:
    """A function that names ids. An id without a name is called by its number, padding is called <pad>."""

    def name(number: int) -> str:
        number = int(number)
        try:
            found = token(number) if callable(token) else token[number]
        except (KeyError, IndexError):
            found = None
        if found is None or found == "":
            return "<pad>" if number == pad else str(number)
        found = found.numpy() if hasattr(found, "numpy") else found
        return found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)

    return name


def padding_of(side: str, ids: np.ndarray, pad: int | None) -> np.ndarray:
    """(S,) bool: the ids of padding behind the last token. A warning tells where else that id stands, as it is a token there.

    >>> padding_of("source", np.array([5, 3, 0, 0]), 0).tolist()
    [False, False, True, True]
    """
    if pad is None:
        return np.zeros(len(ids), bool)
    tokens = np.flatnonzero(ids != pad)
    length = int(tokens[-1]) + 1 if len(tokens) else 0
    if length > len(tokens):
        warnings.warn(
            f"{side}: the id of padding, {pad}, stands before other tokens and is taken for a token there. If no id is padding, "
            "say pad=None; a text that is padded in front has to be given without its padding",
            UserWarning,
            stacklevel=4,
        )
    return np.arange(len(ids)) >= length


def probabilities(
    output: np.ndarray | None, produced: np.ndarray, name: Callable[[int], str]
) -> dict[str, Any]:
    """The fields about what each row might have produced, from logits or probabilities (T, V)."""
    if (
        output is None
        or output.shape[-1] <= max(_ALTERNATIVES, produced.max())
        or not np.isfinite(output).all()
    ):
        return {}
    sums = output.sum(-1, keepdims=True)
    if (output >= 0).all() and np.allclose(sums, 1, atol=_ROW_TOLERANCE):
        logs = np.log(np.maximum(output / sums, np.finfo(np.float32).tiny))
    else:
        shifted = output - output.max(-1, keepdims=True)
        logs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    best = np.argsort(-logs, axis=-1, kind="stable")[:, :_ALTERNATIVES]  # (T, A)
    return {
        "log_probabilities": logs[np.arange(len(produced)), produced],
        "alternatives": tuple(tuple(map(name, row)) for row in best),
        "alternative_probabilities": np.exp(np.take_along_axis(logs, best, axis=-1)),
    }


def first_output(returned: Any, rows: int, output: Output | None = None) -> np.ndarray | None:
    """(rows, V), the first of what a model returned that has this shape; of named outputs only the logits. Or what ``output`` makes of it."""
    if output is not None:
        returned = output(returned)
    if isinstance(returned, Mapping):
        returned = returned.get("logits")
    for each in returned if isinstance(returned, list | tuple) else [returned]:
        shape = tuple(getattr(each, "shape", ()))
        if len(shape) == 3 and shape[:2] == (1, rows):
            return plain_array("output", each)[0].astype(np.float32)
    return None


def answer(returned: Any, output: np.ndarray | None) -> np.ndarray | None:
    """``output``, or the answer of a classifier (1, classes), so that the softmax behind it is not taken for attention."""
    first = returned[0] if isinstance(returned, list | tuple) and returned else returned
    shape = tuple(getattr(first, "shape", ()))
    return plain_array("output", first) if output is None and len(shape) == 2 and shape[0] == 1 else output


def of_one_side(
    heard: Sorted, ids: np.ndarray, output: np.ndarray | None, name: Callable, pad: int | None
) -> AttentionTrace:
    """The trace of an encoder, of a decoder alone where nothing looks ahead but a prefix, or of one row that looks at all tokens."""
    tokens, padding = tuple(map(name, ids)), tuple(padding_of("the source", ids, pad))
    kinds: dict[str, Any] = heard.attention
    own = kinds.get("encoder_attention")
    if len(ids) == 1:
        advice = "Of one token alone nobody sees whether a network is an encoder or a decoder"
        raise TraceError("source", "have two tokens or more", 1, advice)
    seen = None if own is None else own * ~np.array(padding)[:, None]  # rows of padding may look anywhere
    if seen is None or prefix_of(seen) == _looked_at(seen):
        row: dict[str, Any] = {"target_tokens": ("output",)} if "cross_attention" in kinds else {}
        trace = AttentionTrace(source_tokens=tokens, source_padding=padding, **row, **kinds)
        return with_masks(trace, heard.masked)
    likeliest = ids[-1:] if output is None else output[-1:].argmax(-1)
    written = np.concatenate([ids[1:], likeliest])
    trace = AttentionTrace(
        target_tokens=tuple(map(name, written)),
        decoder_input_tokens=tokens,
        decoder_attention=own,
        prefix=prefix_of(seen),
        target_padding=(*padding[1:], padding[-1]),
        **probabilities(output, written, name),
    )
    return with_masks(trace, {"decoder_attention": heard.masked["encoder_attention"]})


def _looked_at(maps: np.ndarray) -> int:
    """How many columns of (…, K) there are up to the last one that any row looks at; those behind it are hidden as padding."""
    columns = np.flatnonzero((maps != 0).any(axis=tuple(range(maps.ndim - 1))))
    return int(columns[-1]) + 1 if len(columns) else 0
