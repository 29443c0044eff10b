"""``trace_torch``: the attention of one pass of a PyTorch network; ``torch_derivatives``.

S source tokens, T tokens that the decoder reads, V vocabulary, D d_model, H heads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import numpy as np

from model.adapters.capture import Capture, Function, Parts, check_same_pass, replaced
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
    import torch
    from torch import Tensor, nn


def trace_torch(
    model: nn.Module,
    *inputs: Tensor,
    token: Token = str,
    target_token: Token | None = None,
    pad: int | None = 0,
    heads: int | None = None,
    output: Output | None = None,
    **named: object,
) -> AttentionTrace:
    """Trace one pass of a PyTorch module, in evaluation mode and without gradients.

    Captured are ``nn.Transformer``, ``nn.MultiheadAttention``, ``scaled_dot_product_attention`` and every
    softmax. A row produces the token that the decoder reads next; the last row the likeliest token of the
    output.

    >>> trace_torch(transformer, source, read, token=words)  # doctest: +SKIP

    Args:
        model: a module of PyTorch.
        inputs: the module's arguments, of one sentence. The first is the source; a second one is the input of
            the decoder, the start mark first. Ids are (1, S) or (S,); vectors (1, S, D), (S, 1, D) or (S, D),
            whose tokens are called 1, 2, 3 …
        token: names an id: a function, a list or a dictionary.
        target_token: the same for the target, where its vocabulary is another one.
        pad: the id of padding, always at the end of a text; None where no id is padding.
        heads: how many softmaxes of one head are a layer, where a network computes each head by itself. Heads
            in separate modules that are called with the same arguments are joined without it.
        output: the logits or probabilities (1, T, V) of the returned value: ``lambda returned: returned[1]``.
            By default the first tensor of that shape; ``lambda returned: None`` for a body without an output
            layer.
        named: named arguments of the module, such as masks.

    Raises:
        TraceError: for attention that cannot be captured, and for a pass that differs from the module's own.
    """
    _check(model, inputs)
    source = _side("the source", inputs[0], token, pad)
    read = _side("the target", inputs[1], target_token or token, pad) if inputs[1:] else None
    first: Lengths = (len(source.ids), None if read is None else len(read.ids))

    def run(lengths: Lengths) -> CapturedPass:
        given = [
            _stretched(each, *pair)
            for each, pair in zip(inputs, zip(first, lengths, strict=True), strict=False)
        ]
        with _plain(model):
            capture = Capture()
            with captured(capture, Parts(model.modules())):
                returned = model(*given, *inputs[2:], **named)
            if lengths == first:
                check_same_pass(model(*inputs, **named), returned, type(model).__name__)
        return captured_pass(capture, lengths, returned, output)

    return trace_of(source, read, run, heads)


def _check(model: object, inputs: tuple) -> None:
    """Raise TraceError for an object without layers that can be captured, with the advice for it."""
    import torch

    if not isinstance(model, torch.nn.Module) or isinstance(model, torch.jit.ScriptModule):
        advice = (
            "Give the module itself: a function, or a module of torch.jit, has no layers that can be captured"
        )
        raise TraceError("model", "be a module of PyTorch", type(model).__name__, advice)
    if isinstance(model, torch.nn.MultiheadAttention) and len(inputs) > 1:
        advice = (
            "Self-attention is trace_torch(attention, x, key=x, value=x); of two sides give a module whose "
            "forward(source, read) returns attention(read, source, source)[0]"
        )
        raise TraceError("inputs", "be a source and what a decoder reads", "query, key and value", advice)
    if not inputs:
        raise TraceError("inputs", "begin with the source", "none")


def _side(name: str, given: Tensor, token: Token, pad: int | None) -> Side:
    """The tokens of an input: its ids, or for vectors their positions.

    Raises TraceError for more than one sentence.
    """
    shape = tuple(getattr(given, "shape", ()))
    if 0 in shape:
        raise TraceError(name, "have at least one token", f"the shape {shape}")
    is_ids = bool(shape) and plain_array(name, given).dtype.kind in "iu"
    if is_ids and (len(shape) == 1 or len(shape) == 2 and shape[0] == 1):
        return Side(plain_array(name, given).reshape(-1), names(token, pad), pad)
    lengths = {2: shape[:1], 3: tuple(size for size in shape[:2] if size != 1) or (1,)}.get(len(shape), ())
    if is_ids or len(lengths) != 1:
        advice = "Of a batch give one row, as in ids[:1]"
        raise TraceError(name, "be one sentence", f"{type(given).__name__} of the shape {shape}", advice)
    return Side(np.arange(1, lengths[0] + 1), str, None, named=False)


def _stretched(given: Tensor, length: int | None, other: int | None) -> Tensor:
    """An input of ``length`` tokens with ``other`` many."""
    if length is None or other is None or length == other:
        return given
    import torch

    shape = tuple(given.shape)
    axis = int(shape[1:2] == (length,) and (len(shape) == 3 or shape[0] == 1))
    return given.index_select(axis, torch.arange(other).clamp(max=length - 1).to(given.device))


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Evaluation mode inside the ``with``; afterwards each part is in the mode that it was in."""
    before = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in before:
            part.training = training


@contextmanager
def _plain(model: nn.Module) -> Iterator[None]:
    """Evaluation without gradients or compilation.

    The fast path is off, too, which computes a whole layer without weights.
    """
    import torch

    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.no_grad(), evaluating(model), torch.compiler.set_stance("force_eager"):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


@contextmanager
def captured(capture: Capture, parts: Parts) -> Iterator[None]:
    """Capture, or replace, the weights (H, Q, K) of each softmax of PyTorch.

    Fused attention is computed step by step.
    """
    import torch

    functional = torch.nn.functional
    with ExitStack() as stack:
        stack.enter_context(
            replaced(torch.nn.Module, "__call__", capture.layer_call(torch.nn.Module.__call__))
        )
        attend = spelled_out(capture)
        stack.enter_context(parts.replaced(functional, "scaled_dot_product_attention", attend))
        capture.replace_softmaxes(stack, parts, "torch")
        yield


def spelled_out(capture: Capture) -> Function:
    """``scaled_dot_product_attention`` in the steps of its documentation, with captured weights (H, Q, K)."""

    def weights_of(
        query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool, scale: float | None
    ) -> Tensor:
        """(B, H, Q, K) of queries (B, H, Q, d) and keys (B, H, K, d)."""
        scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
        if is_causal:
            mask = scores.new_ones(scores.shape[-2:]).bool().tril()
        if mask is not None:
            adds = mask.is_floating_point()
            scores = scores + mask if adds else scores.masked_fill(~mask, -math.inf)
        return scores.softmax(-1).nan_to_num(0)  # a row that sees nothing

    softmax = capture.softmax(weights_of, lambda *_: -1)

    def attend(
        query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
        is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
    ) -> Tensor:  # fmt: skip
        """(B, H, Q, d): the weights (B, H, Q, K) times the values."""
        if enable_gqa:
            groups = query.shape[-3] // key.shape[-3]
            key, value = (each.repeat_interleave(groups, -3) for each in (key, value))
        return softmax(query, key, attn_mask, is_causal, scale) @ value

    return attend


def torch_derivatives(
    score: Callable[..., Tensor], factors: Sequence[np.ndarray], device: torch.device | None = None
) -> tuple[Tensor, Sequence[Tensor]]:
    """Scores (B,) of ``factors``, each (B, N), and the derivatives of the scores by each factor."""
    import torch

    given = [torch.tensor(each, device=device, requires_grad=True) for each in factors]
    with torch.enable_grad():
        scores = score(*given)
        return scores, torch.autograd.grad(scores.sum(), given)
