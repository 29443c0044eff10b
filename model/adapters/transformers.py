"""Traces of models from Hugging Face transformers: encoder-decoders, encoders, decoders alone.

B is 1 here; L layers, H heads, S source tokens, T target tokens, V vocabulary, A alternatives.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from model.adapters.heard import is_causal
from model.adapters.listening import evaluating
from model.trace.strict_npz import TraceError
from model.trace.trace import AttentionTrace

_ALTERNATIVES = 5


def from_transformers(
    model: Any, tokenizer: Any, text: str, target: str | None = None, **generating: Any
) -> AttentionTrace:
    """One pass of a model from transformers over ``text``, with every attention that it returns.

    >>> from_transformers(marian, tokenizer, "the cat sat", max_new_tokens=20)  # doctest: +SKIP

    Args:
        text: what an encoder reads, such as BERT's; what an encoder-decoder, such as MarianMT, T5 or BART, starts from; what
            a decoder alone reads, such as GPT-2 or Llama. In the last case each row produces the next token.
        target: what an encoder-decoder should have written; by default what it generates, without sampling or beams. A decoder
            alone reads it behind the text.
        generating: goes to ``model.generate``.

    For the pass the model computes its attention eagerly, the only way that returns it, and for evaluation; afterwards it is
    as it was. Raises TraceError where the model returns no attention, and ValueError for options that nothing is generated with.
    """
    import torch

    with torch.no_grad(), showing_attention(model):
        if getattr(model.config, "is_encoder_decoder", False):
            return _encoder_decoder(model, tokenizer, text, target, generating)
        if generating:
            raise ValueError(f"only an encoder-decoder generates here, received {sorted(generating)}")
        return _one_side(model, tokenizer, text + (target or ""))


@contextmanager
def showing_attention(model: Any) -> Iterator[None]:
    """Attention is computed eagerly, and nothing is dropped, inside the ``with``."""
    before = getattr(model.config, "_attn_implementation", None)
    model.set_attn_implementation("eager")
    try:
        with evaluating(model):
            yield
    finally:
        if before is not None:
            model.set_attn_implementation(before)


def _encoder_decoder(
    model: Any, tokenizer: Any, text: str, target: str | None, generating: dict
) -> AttentionTrace:
    read = tokenizer(text, return_tensors="pt", return_token_type_ids=False).to(model.device)
    written = _written(model, tokenizer, read, target, generating)  # (1, 1 + T), the start mark first
    out = model(**read, decoder_input_ids=written[:, :-1], output_attentions=True)
    attention = {
        "encoder_attention": _given(out.encoder_attentions, "encoder_attention"),
        "decoder_attention": _given(out.decoder_attentions, "decoder_attention"),
        "cross_attention": _given(out.cross_attentions, "cross_attention"),
    }
    return trace_of_pass(tokenizer, read.input_ids[0], written[0], attention, out.logits[0])


def trace_of_pass(tokenizer: Any, ids: Any, written: Any, attention: dict, logits: Any) -> AttentionTrace:
    """Of an encoder-decoder. ``ids`` (S,); ``written`` (1 + T,), the start mark first; ``attention`` (L, H, Q, K) by kind; ``logits``
    (T, V)."""
    import torch

    written = torch.as_tensor(written, device=logits.device)
    return AttentionTrace(
        **_tokens(tokenizer, ids, "source"),
        **_tokens(tokenizer, written[1:], "target"),
        decoder_input_tokens=tuple(tokenizer.convert_ids_to_tokens(written[:-1])),
        **attention,
        **_probabilities(tokenizer, logits, written[1:]),
    )


def _written(model: Any, tokenizer: Any, read: Any, target: str | None, generating: dict) -> Any:
    import torch

    if target is None:
        return model.generate(**read, num_beams=1, do_sample=False, **generating)
    ids = tokenizer(text_target=target, return_tensors="pt").input_ids.to(model.device)
    start = torch.full_like(ids[:, :1], model.config.decoder_start_token_id)
    return torch.cat([start, ids], dim=1)


def _one_side(model: Any, tokenizer: Any, text: str) -> AttentionTrace:
    """An encoder; a decoder where nothing looks ahead."""
    import torch

    read = tokenizer(text, return_tensors="pt").to(model.device)
    if getattr(model.config, "type_vocab_size", 0) < 1:
        read.pop("token_type_ids", None)  # of no use to most decoders, and refused by them
    out = model(**read, output_attentions=True)
    weights, ids = _given(out.attentions, "attentions"), read.input_ids[0]
    if not is_causal(weights.float().cpu().numpy()):
        return AttentionTrace(**_tokens(tokenizer, ids, "source"), encoder_attention=weights)
    logits = getattr(out, "logits", None)
    last = ids[-1:] if logits is None else logits[0, -1:].argmax(-1)
    written = torch.cat([ids[1:], last])  # (T,)
    return AttentionTrace(
        **_tokens(tokenizer, written, "target"),
        decoder_input_tokens=tuple(tokenizer.convert_ids_to_tokens(ids)),
        decoder_attention=weights,
        **({} if logits is None else _probabilities(tokenizer, logits[0], written)),
    )


def _given(attentions: Any, kind: str) -> Any:
    """L tensors (1, H, Q, K) -> (L, H, Q, K); raises TraceError where a model kept its attention to itself."""
    import torch

    if not attentions or any(each is None for each in attentions):
        advice = "Its layers have an attention that returns no weights even where it is computed eagerly"
        raise TraceError(kind, "be returned by the model", "none", advice)
    return torch.cat(tuple(attentions))


def _tokens(tokenizer: Any, ids: Any, side: str) -> dict[str, Any]:
    """The fields ``<side>_tokens``, ``_text`` and ``_spans``; a token stands where it lengthens what is decoded."""
    ends = [len(tokenizer.decode(ids[:count], skip_special_tokens=True)) for count in range(len(ids) + 1)]
    # The first bytes of a character are decoded as signs that the next ones take back.
    ends = np.minimum.accumulate(ends[::-1])[::-1].tolist()
    return {
        f"{side}_tokens": tuple(tokenizer.convert_ids_to_tokens(ids)),
        f"{side}_text": tokenizer.decode(ids, skip_special_tokens=True),
        f"{side}_spans": tuple(pairwise(ends)),
    }


def _probabilities(tokenizer: Any, logits: Any, ids: Any) -> dict[str, Any]:
    """The fields about what each row might have produced. ``logits`` (T, V), ``ids`` (T,)."""
    logs = logits.float().log_softmax(-1)
    likeliest = logs.topk(min(_ALTERNATIVES, logs.shape[-1]))  # (T, A)
    return {
        "log_probabilities": logs.gather(-1, ids[:, None])[:, 0],
        "alternatives": tuple(tuple(tokenizer.convert_ids_to_tokens(row)) for row in likeliest.indices),
        "alternative_probabilities": likeliest.values.exp(),
    }
