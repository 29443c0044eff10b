"""Traces of PyTorch networks: ``trace_torch`` listens to one pass.

S source tokens, T tokens that the decoder reads, V vocabulary, D d_model, H heads.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial, wraps
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
    replaced,
    replaced_everywhere,
)
from model.adapters.one_pass import axis_of, sides_of, trace_of
from model.adapters.outputs import Output, Token, answer, first_output
from model.trace.strict_npz import TraceError
from model.trace.trace import AttentionTrace


def trace_torch(
    model: Any,
    *inputs: Any,
    token: Token = str,
    target_token: Token | None = None,
    pad: int | None = 0,
    heads: int | None = None,
    output: Output | None = None,
    **named: Any,
) -> AttentionTrace:
    """One pass of a PyTorch module, seen from outside: ``nn.Transformer``, layers of ``nn.MultiheadAttention``, the fused
    ``scaled_dot_product_attention``, attention of its own that takes a softmax.

    >>> trace_torch(transformer, source, read, token=words)  # doctest: +SKIP

    Args:
        inputs: what the module is called with, of one sentence. The first is the source; the second, where it is there, what
            the decoder reads, the start mark first. Ids are (1, S) or (S,); vectors (1, S, D), (S, 1, D) or (S, D), whose
            tokens are called 1, 2, 3 …
        token: what names an id: a function, a list or a dictionary.
        target_token: the same for the target, where it has a vocabulary of its own.
        pad: the id of padding, which stands at the end of a text; None where no id is padding.
        heads: how many softmaxes of one head are a layer, where a network computes each head by itself. Heads in modules of their own
            that are called with the same arguments are found without it.
        output: what of all that is returned are logits or probabilities, (1, T, V): ``lambda returned: returned[1]``. By default the
            first one of that shape; ``lambda returned: None`` for a body without an output layer.
        named: goes to the module, too, such as masks.

    A row produces the token that the decoder reads next; the last one what the output, the first of the shape (1, T, V),
    finds likeliest. The pass is for evaluation and without gradients; afterwards the module is as it was.

    Raises TraceError, which says why, where no attention was heard.
    """
    _check(model, inputs)
    sides = sides_of(inputs, token, target_token, pad)
    lengths = sides[2]
    (heard, _), logits, ear = _pass(model, inputs, named, lengths, output)
    again = partial(_second_pass, model, inputs, named, lengths)
    return trace_of(sides, heard, logits, ear, again, heads)


def _check(model: Any, inputs: tuple) -> None:
    """Raises TraceError for what is no module that can be listened to, and says what to give instead."""
    import torch

    if not isinstance(model, torch.nn.Module) or isinstance(model, torch.jit.ScriptModule):
        advice = "Give the module itself: a function, or what torch.jit compiled, has no layers that can be listened to"
        raise TraceError("model", "be a module of PyTorch", type(model).__name__, advice)
    if isinstance(model, torch.nn.MultiheadAttention) and len(inputs) > 1:
        advice = (
            "Self-attention is trace_torch(attention, x, key=x, value=x); of two sides give a module whose forward(source, read) "
            "returns attention(read, source, source)[0]"
        )
        raise TraceError("inputs", "be a source and what a decoder reads", "query, key and value", advice)


def _pass(
    model: Any, inputs: tuple, named: dict, lengths: Lengths, output: Output | None = None
) -> tuple[HeardPass, np.ndarray | None, Ear]:
    """What was heard, the output (T, V) where there is one, and what heard it."""
    import torch

    with torch.no_grad(), evaluating(model), _listening(model) as ear:
        returned = model(*inputs, **named)
    shown = getattr(returned, "logits", returned) if output is None else returned
    logits = first_output(shown, lengths[1] or lengths[0], output)
    return (without_output(ear.heard, answer(returned, logits)), lengths), logits, ear


def _second_pass(model: Any, inputs: tuple, named: dict, first: Lengths, lengths: Lengths) -> HeardPass:
    """A pass whose first inputs, of the ``first`` lengths, have other ``lengths``."""
    import torch

    changed = list(inputs)
    for number, (length, other) in enumerate(zip(first, lengths, strict=True)):
        if length is not None and other is not None:
            axis = axis_of(inputs[number], length)
            places = torch.arange(other).clamp(max=length - 1).to(inputs[number].device)
            changed[number] = inputs[number].index_select(axis, places)
    return _pass(model, tuple(changed), named, lengths)[0]


@contextmanager
def _listening(model: Any) -> Iterator[Ear]:
    """Each softmax that PyTorch takes inside the ``with`` is heard, and what is fused is spelled out."""
    import torch

    parts = list(model.modules())
    ear, functional, fast = Ear(), torch.nn.functional, torch.backends.mha.get_fastpath_enabled()
    with ExitStack() as stack:
        # Else layers are heard when they are compiled, too.
        stack.enter_context(torch.compiler.set_stance("force_eager"))
        stack.enter_context(replaced(torch.nn.Module, "__call__", ear.inside(torch.nn.Module.__call__)))
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
