"""Traces of PyTorch networks: ``trace_torch`` listens to one pass.

S source tokens, T tokens that the decoder reads, V vocabulary, D d_model, H heads.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import wraps
from typing import Any

import numpy as np

from model.adapters.heard import HeardPass, Lengths, without_output
from model.adapters.listening import (
    FUSED,
    SOFTMAXES,
    Ear,
    evaluating,
    loaded,
    of_softmax,
    replaced_everywhere,
)
from model.adapters.one_pass import sides_of, trace_of
from model.adapters.outputs import Token, answer, first_output
from model.trace.trace import AttentionTrace


def trace_torch(
    model: Any,
    *inputs: Any,
    token: Token = str,
    target_token: Token | None = None,
    pad: int | None = 0,
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
        pad: the id of padding, which stands at the end of a text; None where no id is padding.
        named: goes to the module, too, such as masks.

    A row produces the token that the decoder reads next; the last one what the output, the first of the shape (1, T, V),
    finds likeliest. The pass is for evaluation and without gradients; afterwards the module is as it was.

    Raises TraceError, which says why, where no attention was heard.
    """
    sides = sides_of(inputs, token, target_token, pad)
    lengths = sides[2]
    (heard, _), output, ear = _pass(model, inputs, named, lengths)
    return trace_of(sides, heard, output, ear, lambda: _second_pass(model, inputs, named, lengths))


def _pass(
    model: Any, inputs: tuple, named: dict, lengths: Lengths
) -> tuple[HeardPass, np.ndarray | None, Ear]:
    """What was heard, the output (T, V) where there is one, and what heard it."""
    import torch

    with torch.no_grad(), evaluating(model), _listening(model) as ear:
        returned = model(*inputs, **named)
    output = first_output(getattr(returned, "logits", returned), lengths[1] or lengths[0])
    return (without_output(ear.heard, answer(returned, output)), lengths), output, ear


def _second_pass(model: Any, inputs: tuple, named: dict, lengths: Lengths) -> HeardPass | None:
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
def _listening(model: Any) -> Iterator[Ear]:
    """Each softmax that PyTorch takes inside the ``with`` is heard, and what is fused is spelled out."""
    import torch

    parts = list(model.modules())
    ear, functional, fast = Ear(), torch.nn.functional, torch.backends.mha.get_fastpath_enabled()
    with ExitStack() as stack:
        attend = spelled_out(ear)
        stack.enter_context(replaced_everywhere(functional, "scaled_dot_product_attention", attend, parts))
        several = _of_each_head(functional.multi_head_attention_forward, ear)
        stack.enter_context(replaced_everywhere(functional, "multi_head_attention_forward", several, parts))
        for owner, name in loaded([place for place in SOFTMAXES if place[0].startswith("torch")]):
            heard = ear.hearing(getattr(owner, name), of_softmax)
            stack.enter_context(replaced_everywhere(owner, name, heard, parts))
        for owner, name in loaded(FUSED):
            stack.enter_context(replaced_everywhere(owner, name, ear.noticing(getattr(owner, name)), parts))
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


def spelled_out(ear: Ear) -> Callable:
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
