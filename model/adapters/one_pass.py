"""The trace of one pass of a network that is called with arrays, whatever its library: what ``trace_torch`` and ``trace_jax`` share.

S source tokens, T tokens that the decoder reads, V vocabulary, D d_model.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from model.adapters.heard import HeardPass, Lengths, Maps, sorted_by_kind, with_masks
from model.adapters.listening import Ear, what_was_heard
from model.adapters.outputs import Token, names, of_one_side, padding_of, probabilities
from model.trace.arrays import plain_array
from model.trace.strict_npz import TraceError
from model.trace.trace import AttentionTrace


class Side(NamedTuple):
    """The tokens of one input; where it has no ids their places, from 1."""

    ids: np.ndarray  # (S,)
    name: Callable[[int], str]
    pad: int | None
    named: bool  # whether there are ids


def sides_of(
    inputs: tuple, token: Token, target_token: Token | None, pad: int | None
) -> tuple[Side, Side | None, Lengths]:
    """What the source and the decoder read, and how long they are. ``inputs``: what a network is called with.

    Raises TraceError where the first two are not one sentence each.
    """
    if not inputs:
        raise TraceError("inputs", "begin with the source", "none")
    source = _side("the source", inputs[0], token, pad)
    other = token if target_token is None else target_token
    read = _side("the target", inputs[1], other, pad) if inputs[1:] else None
    return source, read, (len(source.ids), None if read is None else len(read.ids))


def axis_of(given: Any, length: int) -> int:
    """The axis of an input along which its ``length`` tokens stand.

    >>> axis_of(np.zeros((1, 4)), 4), axis_of(np.zeros((4, 1, 8)), 4), axis_of(np.zeros((4, 8)), 4)
    (1, 0, 0)
    """
    shape = tuple(given.shape)
    return int(shape[1:2] == (length,) and (len(shape) == 3 or shape[0] == 1))


def trace_of(
    sides: tuple[Side, Side | None, Lengths],
    heard: list[Maps],
    output: np.ndarray | None,
    ear: Ear,
    again: Callable[[Lengths], HeardPass],
    heads: int | None,
) -> AttentionTrace:
    """The trace of a pass in which ``heard`` was heard. ``output`` (T, V). ``again``, ``heads``: as in
    ``sorted_by_kind``.

    A row produces the token that the decoder reads next; the last one what ``output`` finds likeliest. Raises TraceError, which says
    why, where no attention was heard.
    """
    source, read, lengths = sides
    found = sorted_by_kind(heard, lengths, again, heads)
    kinds: dict[str, Any] = found.attention
    if not kinds:
        raise TraceError("attention", "be heard", what_was_heard(heard), ear.reason())
    ear.tell_missed()
    output = output if source.named and (read is None or read.named) else None
    if read is None:
        return of_one_side(found, source.ids, output, source.name, source.pad)
    likeliest = read.ids[-1:] if output is None else output[-1:].argmax(-1)
    produced = np.concatenate([read.ids[1:], likeliest]) if read.named else read.ids
    # The first id is a start mark, which some networks spell as padding.
    padding = np.append(False, padding_of("the target", read.ids[1:], read.pad)) & (produced == read.pad)
    trace = AttentionTrace(
        source_tokens=tuple(map(source.name, source.ids)),
        target_tokens=tuple(map(read.name, produced)),
        decoder_input_tokens=tuple(map(read.name, read.ids)),
        source_padding=tuple(padding_of("the source", source.ids, source.pad)),
        target_padding=tuple(padding),
        **kinds,
        **probabilities(output, produced, read.name),
    )
    return with_masks(trace, found.masked)


def _side(what: str, given: Any, token: Token, pad: int | None) -> Side:
    shape = tuple(getattr(given, "shape", ()))
    if 0 in shape:
        raise TraceError(what, "have at least one token", f"the shape {shape}")
    is_ids = bool(shape) and plain_array(what, given).dtype.kind in "iu"
    if is_ids and (len(shape) == 1 or len(shape) == 2 and shape[0] == 1):
        return Side(plain_array(what, given).reshape(-1), names(token, pad), pad, True)
    lengths = {2: shape[:1], 3: tuple(size for size in shape[:2] if size != 1) or (1,)}.get(len(shape), ())
    if is_ids or len(lengths) != 1:
        advice = "Of a batch give one row, as in ids[:1]"
        raise TraceError(what, "be one sentence", f"{type(given).__name__} of the shape {shape}", advice)
    return Side(np.arange(1, lengths[0] + 1), str, None, False)
