"""Traces of PyTorch networks: ``trace_torch`` listens to one pass.

S source tokens, T tokens that the decoder reads, V vocabulary, D d_model, H heads.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from model.adapters.heard import Lengths, Pass, sorted_by_kind, without_output
from model.adapters.listening import SOFTMAXES, Ear, evaluating, loaded, of_softmax, replaced, what_was_heard
from model.adapters.outputs import Token, answer, first_output, names, of_one_side, probabilities
from model.trace.arrays import plain_array
from model.trace.strict_npz import TraceError
from model.trace.trace import AttentionTrace


def trace_torch(
    model: Any,
    *inputs: Any,
    token: Token = str,
    target_token: Token | None = None,
    pad: int = 0,
    **named: Any,
) -> AttentionTrace:
    """One pass of a PyTorch module, seen from outside: ``nn.Transformer``, ``nn.MultiheadAttention``, the fused
    ``scaled_dot_product_attention``, attention of its own that takes a softmax.

    >>> trace_torch(transformer, source, read, token=words)  # doctest: +SKIP

    Args:
        inputs: what the module is called with, of one sentence. The first is the source; the second, where it is there, what
            the decoder reads, the start mark first. Ids are (1, S) or (S,); vectors (1, S, D), (S, 1, D) or (S, D), whose
            tokens are called 1, 2, 3 …
        token: what names an id: a function, a list or a dictionary.
        target_token: the same for the target, where it has a vocabulary of its own.
        pad: the id of padding.
        named: goes to the module, too, such as masks.

    A row produces the token that the decoder reads next; the last one what the output, the first of the shape (1, T, V),
    finds likeliest. The pass is for evaluation and without gradients; afterwards the module is as it was.

    Raises TraceError, which says why, where no attention was heard.
    """
    if not inputs:
        raise TraceError("inputs", "begin with the source", "none")
    source = _side("the source", inputs[0], token, pad)
    read = (
        _side("the target", inputs[1], token if target_token is None else target_token, pad)
        if inputs[1:]
        else None
    )
    lengths: Lengths = (len(source.ids), None if read is None else len(read.ids))
    (heard, _), output, ear = _pass(model, inputs, named, lengths)
    kinds = sorted_by_kind(heard, lengths, lambda: _second_pass(model, inputs, named, lengths))
    if not kinds:
        raise TraceError("attention", "be heard", what_was_heard(heard), ear.reason())
    output = output if source.named and (read is None or read.named) else None
    if read is None:
        return of_one_side(kinds, source.ids, output, source.name, source.pad)
    likeliest = read.ids[-1:] if output is None else output[-1:].argmax(-1)
    produced = np.concatenate([read.ids[1:], likeliest]) if read.named else read.ids
    return AttentionTrace(
        source_tokens=tuple(map(source.name, source.ids)),
        target_tokens=tuple(map(read.name, produced)),
        decoder_input_tokens=tuple(map(read.name, read.ids)),
        source_padding=tuple(source.ids == source.pad),
        target_padding=tuple((produced == read.pad) & (read.ids == read.pad)),
        **kinds,
        **probabilities(output, produced, read.name),
    )


class _Side(NamedTuple):
    """The tokens of one input; where it has no ids their places, from 1."""

    ids: np.ndarray  # (S,)
    name: Callable[[int], str]
    pad: int
    named: bool  # whether there are ids


def _side(what: str, given: Any, token: Token, pad: int) -> _Side:
    shape = tuple(getattr(given, "shape", ()))
    is_ids = bool(shape) and plain_array(what, given).dtype.kind in "iu"
    if is_ids and (len(shape) == 1 or len(shape) == 2 and shape[0] == 1):
        return _Side(plain_array(what, given).reshape(-1), names(token, pad), pad, True)
    lengths = {2: shape[:1], 3: tuple(size for size in shape[:2] if size != 1) or (1,)}.get(len(shape), ())
    if is_ids or len(lengths) != 1:
        advice = "Of a batch give one row, as in ids[:1]"
        raise TraceError(what, "be one sentence", f"{type(given).__name__} of the shape {shape}", advice)
    return _Side(np.arange(1, lengths[0] + 1), str, -1, False)


def _pass(model: Any, inputs: tuple, named: dict, lengths: Lengths) -> tuple[Pass, np.ndarray | None, Ear]:
    """What was heard, the output (T, V) where there is one, and what heard it."""
    import torch

    with torch.no_grad(), evaluating(model), _listening() as ear:
        returned = model(*inputs, **named)
    output = first_output(getattr(returned, "logits", returned), lengths[1] or lengths[0])
    return (without_output(ear.heard, answer(returned, output)), lengths), output, ear


def _second_pass(model: Any, inputs: tuple, named: dict, lengths: Lengths) -> Pass | None:
    """A pass over one more target token, the last one twice, or over one fewer; None where the module takes neither."""
    import torch

    target, (source, length) = inputs[1], lengths
    axis = next((n for n, size in enumerate(target.shape) if size == length and n < 2), 0)
    last = target.narrow(axis, target.shape[axis] - 1, 1)
    for other in (torch.cat([target, last], axis), target.narrow(axis, 0, target.shape[axis] - 1)):
        changed = (source, other.shape[axis])
        if changed[1]:
            with suppress(
                Exception
            ):  # such as masks of the first length, or a length that the module does not take
                return _pass(model, (inputs[0], other, *inputs[2:]), named, changed)[0]
    return None


@contextmanager
def _listening() -> Iterator[Ear]:
    """Each softmax that PyTorch takes inside the ``with`` is heard, and what is fused is spelled out."""
    import torch

    ear, functional, fast = Ear(), torch.nn.functional, torch.backends.mha.get_fastpath_enabled()
    with ExitStack() as stack:
        attend = _spelled_out(ear)
        stack.enter_context(replaced(functional, "scaled_dot_product_attention", attend))
        several = _of_each_head(functional.multi_head_attention_forward, ear)
        stack.enter_context(replaced(functional, "multi_head_attention_forward", several))
        for owner, name in loaded([place for place in SOFTMAXES if place[0].startswith("torch")]):
            stack.enter_context(replaced(owner, name, ear.hearing(getattr(owner, name), of_softmax)))
        # The fast path of nn.TransformerEncoder computes a whole layer at once, and keeps no weights.
        torch.backends.mha.set_fastpath_enabled(False)
        stack.callback(torch.backends.mha.set_fastpath_enabled, fast)
        yield ear


def _of_each_head(attend: Callable, ear: Ear) -> Callable:
    """``multi_head_attention_forward``, heard head by head; its caller gets the weights that it asked for."""
    listened = ear.hearing(attend, lambda result, *_, **__: (result[1], -1))

    @wraps(attend)
    def asked(*args, **kwargs):
        wanted, averaged = kwargs.get("need_weights", True), kwargs.get("average_attn_weights", True)
        output, weights = listened(*args, **kwargs | {"need_weights": True, "average_attn_weights": False})
        if not wanted:
            return output, None
        return output, weights.mean(-3) if averaged else weights

    return asked


def _spelled_out(ear: Ear) -> Callable:
    """``scaled_dot_product_attention`` as its documentation spells it out, with weights that can be heard."""

    def weights_of(query, key, mask, is_causal, scale):
        scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
        if is_causal:
            mask = scores.new_ones(scores.shape[-2:]).bool().tril()
        if mask is not None:
            adds = mask.is_floating_point()
            scores = scores + mask if adds else scores.masked_fill(~mask, -math.inf)
        return scores.softmax(-1).nan_to_num(0)  # a row that sees nothing

    listened = ear.hearing(weights_of, lambda weights, *_: (weights, -1))

    def attend(
        query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
    ):
        if enable_gqa:
            groups = query.shape[-3] // key.shape[-3]
            key, value = (each.repeat_interleave(groups, -3) for each in (key, value))
        return listened(query, key, attn_mask, is_causal, scale) @ value

    return attend
