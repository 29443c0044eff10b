"""Traces of JAX networks, of Flax, Equinox or none of them: ``trace_jax`` listens to one pass.

S source tokens, T tokens that the decoder reads, V vocabulary, D d_model, H heads, Q query and K key positions.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial, wraps
from typing import Any

import numpy as np

from model.adapters.heard import HeardPass, Lengths, stretched, without_output
from model.adapters.listening import Ear, of_softmax, replaced_everywhere
from model.adapters.one_pass import axis_of, sides_of, trace_of
from model.adapters.outputs import Output, Token, answer, first_output
from model.trace.trace import AttentionTrace


def trace_jax(
    call: Callable[..., Any],
    *inputs: Any,
    token: Token = str,
    target_token: Token | None = None,
    pad: int | None = 0,
    heads: int | None = None,
    output: Output | None = None,
    **named: Any,
) -> AttentionTrace:
    """One pass of a network in JAX, seen from outside: Flax (``nnx`` and ``linen``), Equinox, attention of its own that takes
    ``jax.nn.softmax``, and ``jax.nn.dot_product_attention``.

    >>> trace_jax(model, source, read, token=words)  # doctest: +SKIP
    >>> trace_jax(partial(linen_model.apply, variables), source)  # doctest: +SKIP

    Args:
        call: the network, or the function that makes its pass. It may use ``jax.vmap`` and ``jax.jit`` inside: while it is listened
            to, what is compiled runs step by step. The result of ``jax.jit`` itself may run from code that JAX remembers, which cannot
            be listened to; give the function that was handed to ``jax.jit``.
        inputs: what it is called with, of one sentence. The first is the source; the second, where it is there, what the decoder reads, the
            start mark first. Ids are (1, S) or (S,); vectors (1, S, D), (S, 1, D) or (S, D), whose tokens are called 1, 2, 3 …
        token: what names an id: a function, a list or a dictionary.
        target_token: the same for the target, where it has a vocabulary of its own.
        pad: the id of padding, which stands at the end of a text; None where no id is padding.
        heads: how many softmaxes of one head are a layer, where a network computes each head by itself.
        output: what of all that is returned are logits or probabilities, (1, T, V): ``lambda returned: returned[1]``. By default the
            first one of that shape; ``lambda returned: None`` for a body without an output layer.
        named: goes to the network, too, such as masks, or ``deterministic=True`` for Flax's dropout.

    Rows and probabilities are those of ``trace_torch``; an output of the shape (T, V) counts as well.

    Raises TraceError, which says why, where no attention was heard.
    """
    sides = sides_of(inputs, token, target_token, pad)
    lengths = sides[2]
    (heard, _), logits, ear = _pass(call, inputs, named, lengths, output)
    again = partial(_second_pass, call, inputs, named, lengths)
    return trace_of(sides, heard, logits, ear, again, heads)


def _pass(
    call: Callable, inputs: tuple, named: dict, lengths: Lengths, output: Output | None = None
) -> tuple[HeardPass, np.ndarray | None, Ear]:
    """What was heard, the output (T, V) where there is one, and what heard it."""
    with _listening() as ear:
        returned = call(*inputs, **named)
    returned = getattr(returned, "logits", returned) if output is None else output(returned)
    if len(getattr(returned, "shape", ())) == 2 and returned.shape[0] == (lengths[1] or lengths[0]) > 1:
        returned = returned[None]  # of a network that is called without a batch
    logits = first_output(returned, lengths[1] or lengths[0])
    return (without_output(ear.heard, answer(returned, logits)), lengths), logits, ear


def _second_pass(call: Callable, inputs: tuple, named: dict, first: Lengths, lengths: Lengths) -> HeardPass:
    """A pass whose first inputs, of the ``first`` lengths, have other ``lengths``."""
    changed = list(inputs)
    for number, (length, other) in enumerate(zip(first, lengths, strict=True)):
        if length is not None and other is not None:
            given = np.asarray(inputs[number])
            changed[number] = _like(inputs[number], stretched(given, other, axis_of(given, length)))
    return _pass(call, tuple(changed), named, lengths)[0]


def _like(given: Any, array: np.ndarray) -> Any:
    if isinstance(given, np.ndarray):
        return array
    import jax.numpy as jnp

    return jnp.asarray(array)


@contextmanager
def _listening() -> Iterator[Ear]:
    """Each softmax that JAX takes inside the ``with`` is heard, also those in ``vmap``."""
    import jax

    ear = Ear()
    with ExitStack() as stack:
        softmax, attend = jax.nn.softmax, jax.nn.dot_product_attention
        stack.enter_context(replaced_everywhere(jax.nn, "softmax", _heard(ear, softmax)))
        attended = beside(attend, _heard(ear, softmax))
        stack.enter_context(replaced_everywhere(jax.nn, "dot_product_attention", attended))
        stack.enter_context(jax.disable_jit())
        yield ear


def _heard(ear: Ear, softmax: Callable) -> Callable:
    """``softmax`` whose weights and scores are handed to ``ear``. What ``vmap`` takes apart arrives by a callback as one array, the
    mapped axes first.
    """
    import jax

    @wraps(softmax)
    def listened(*args, **kwargs):
        weights = softmax(*args, **kwargs)
        axis = of_softmax(weights, *args, **kwargs)[1] % weights.ndim - weights.ndim
        if not jax.numpy.issubdtype(weights.dtype, jax.numpy.floating):
            return weights

        def keep(array: np.ndarray, scores: np.ndarray) -> np.ndarray:
            ear.keep(np.asarray(array), axis, np.asarray(scores))
            return array

        scores = jax.numpy.asarray(args[0] if args else kwargs["x"])
        if (where := kwargs.get("where")) is not None:
            scores = jax.numpy.where(where, scores, -jax.numpy.inf)
        shape = jax.ShapeDtypeStruct(weights.shape, weights.dtype)
        return jax.pure_callback(keep, shape, weights, scores, vmap_method="broadcast_all")

    return listened


def beside(attend: Callable, softmax: Callable) -> Callable:
    """``jax.nn.dot_product_attention``, which keeps no weights: they are computed beside it, as its documentation has them."""

    @wraps(attend)
    def attended(query, key, value, bias=None, mask=None, *, scale=None, is_causal=False, **others):
        softmax(_scores(query, key, bias, mask, scale, is_causal, others), axis=-1)
        return attend(query, key, value, bias, mask, scale=scale, is_causal=is_causal, **others)

    return attended


def spelled_out_jax(softmax: Callable) -> Callable:
    """``jax.nn.dot_product_attention`` that mixes values by what ``softmax``, which may change it, makes of the scores."""
    import jax.numpy as jnp

    def attended(query, key, value, bias=None, mask=None, *, scale=None, is_causal=False, **others):
        weights = softmax(_scores(query, key, bias, mask, scale, is_causal, others), axis=-1)
        many = jnp.repeat(value, query.shape[-2] // value.shape[-2], axis=-2)
        return jnp.einsum("...hqk,...khd->...qhd", weights, many)

    return attended


def _scores(query, key, bias, mask, scale, is_causal, others):
    """(…, H, Q, K), with what is hidden far below all others."""
    import jax.numpy as jnp

    rows, heads, depth = query.shape[-3:]
    many = jnp.repeat(key, heads // key.shape[-2], axis=-2)
    scores = jnp.einsum("...qhd,...khd->...hqk", query, many) * (depth**-0.5 if scale is None else scale)
    scores = scores if bias is None else scores + bias
    seen = jnp.ones((rows, key.shape[-3]), bool) if mask is None else mask
    if is_causal:
        seen = seen & jnp.tri(rows, key.shape[-3], dtype=bool)
    if (window := others.get("local_window_size")) is not None:
        before, behind = (window, window) if isinstance(window, int) else window
        offset = jnp.arange(key.shape[-3]) - jnp.arange(rows)[:, None]
        seen = seen & (offset >= -before) & (offset <= behind)
    return jnp.where(seen, scores, jnp.finfo(scores.dtype).min)
