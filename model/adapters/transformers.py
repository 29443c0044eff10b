"""Traces of models from Hugging Face transformers: encoder-decoders, encoders, decoders alone; of texts, images and sounds.

B is 1 here; L layers, H heads, S source tokens, T target tokens, V vocabulary, A alternatives.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any

from model.adapters.heard import prefix_of
from model.adapters.listening import evaluating
from model.adapters.transformers_inputs import (
    grouped,
    patches_read,
    source_fields,
    tensors_of,
    text_fields,
    tokenizer_of,
)
from model.adapters.transformers_outputs import (
    given_attention,
    has_sinks,
    probabilities,
    seen_by_all,
    whole_maps,
)
from model.adapters.transformers_texts import tokens_of
from model.adapters.windows import windows_of
from model.trace.trace import AttentionTrace


def from_transformers(
    model: Any,
    tokenizer: Any,
    given: Any,
    target: str | None = None,
    *,
    most_frames: int = 100,
    global_attention_mask: Any = None,
    **generating: Any,
) -> AttentionTrace:
    """One pass of a model from transformers over ``given``, with every attention that it returns.

    >>> from_transformers(marian, tokenizer, "the cat sat", max_new_tokens=20)  # doctest: +SKIP
    >>> from_transformers(vit, image_processor, picture)  # doctest: +SKIP

    Args:
        tokenizer: or the processor that prepares images or sounds for the model.
        given: what the model reads. A text for an encoder (BERT), an encoder-decoder (MarianMT, T5, BART) and a decoder alone (GPT-2,
            Llama). An image for ViT and its like; its patches become tokens. The samples of a sound for Whisper and wav2vec 2.0, at the
            rate that the processor names. The pair (image, text) for a model that reads both in one sequence (LLaVA). In a decoder alone
            each row produces the next token.
        target: what an encoder-decoder should have written; by default what it generates, without sampling or beams. A decoder
            alone reads it behind the text.
        most_frames: how many tokens a sound has at most; more are put together.
        global_attention_mask: (1, S), for Longformer and LED: 1 for each token that sees all others, and is seen by all.
        generating: goes to ``model.generate``. With such options a decoder alone writes on, and ``prompt`` says how much it was given.

    During the pass the model is in evaluation mode and computes its attention eagerly, the only way that returns it. Afterwards it is
    as it was. Raises TraceError where the model returns no attention, and ValueError for options that nothing is generated with, and
    for a text where an image or a sound is read.
    """
    import torch

    if most_frames < 1:
        raise ValueError(f"most_frames should be 1 or more, received {most_frames}")
    model = getattr(model, "_orig_mod", model)  # of torch.compile
    generating = _without_sampling(generating)
    read = tensors_of(model, tokenizer, given)
    if global_attention_mask is not None:
        read["global_attention_mask"] = torch.as_tensor(global_attention_mask, device=model.device)
    with torch.no_grad(), showing_attention(model):
        if "decoder_input_ids" in signature(model.forward).parameters:
            return _encoder_decoder(model, tokenizer, given, read, target, generating, most_frames)
        if generating and not model.can_generate():
            raise ValueError(f"an encoder generates nothing, received {sorted(generating)}")
        return _one_side(model, tokenizer, given, read, target, generating, most_frames)


@contextmanager
def showing_attention(model: Any) -> Iterator[None]:
    """Attention is computed eagerly, and nothing is dropped, inside the ``with``."""
    before = getattr(model.config, "_attn_implementation", None)
    configs = {id(part.config): part.config for part in model.modules() if hasattr(part, "config")}
    parts = [(each, getattr(each, "_attn_implementation", None)) for each in configs.values()]
    model.set_attn_implementation("eager")
    try:
        with evaluating(model):
            yield
    finally:
        if before is not None:
            model.set_attn_implementation(before)
        # The configs of parts, such as one that reads images, may name another attention.
        for config, own in parts:
            if getattr(config, "_attn_implementation", None) != own:
                config._attn_implementation = own


def _encoder_decoder(
    model: Any, processor: Any, given: Any, read: Any, target: str | None, generating: dict, most_frames: int
) -> AttentionTrace:
    tokenizer = tokenizer_of(processor)
    written = _written(model, tokenizer, read, target, generating)  # (1, 1 + T), the start mark first
    out = model(**read, decoder_input_ids=written[:, :-1], output_attentions=True)
    attention = {
        "encoder_attention": given_attention(whole_maps(out, read, "encoder_"), "encoder_attention"),
        "decoder_attention": given_attention(out.decoder_attentions, "decoder_attention"),
        "cross_attention": given_attention(out.cross_attentions, "cross_attention"),
    }
    fields = source_fields(model, processor, given, read, attention["cross_attention"].shape[-1])
    if not isinstance(given, str) and "source_grid" not in fields:
        fields, attention = grouped(fields, attention, most_frames)
    else:
        places = seen_by_all(out, read, "encoder_")
        fields |= windows_of(model.config, attention["encoder_attention"], places)
    logits = getattr(out, "logits", None)  # a body alone has none, and those of a classifier are of no token
    return _trace(
        tokenizer,
        fields,
        written[0],
        attention,
        logits[0] if logits is not None and logits.ndim == 3 else None,
    )


def trace_of_pass(tokenizer: Any, ids: Any, written: Any, attention: dict, logits: Any) -> AttentionTrace:
    """The trace of an encoder-decoder's pass.

    ``ids`` (S,); ``written`` (1 + T,), the start mark first; ``attention`` (L, H, Q, K) by kind; ``logits`` (T, V).
    """
    return _trace(tokenizer, text_fields(tokenizer, ids, "source"), written, attention, logits)


def _trace(tokenizer: Any, source: dict, written: Any, attention: dict, logits: Any) -> AttentionTrace:
    import torch

    written = torch.as_tensor(written)
    known = {} if logits is None else probabilities(tokenizer, logits, written[1:].to(logits.device))
    return AttentionTrace(
        **source,
        **text_fields(tokenizer, written[1:], "target"),
        decoder_input_tokens=tokens_of(tokenizer, written[:-1]),
        **attention,
        **known,
    )


def _without_sampling(generating: dict) -> dict:
    """The options for ``generate``. Raises ValueError for those that would sample, or search with beams."""
    plain = {"num_beams": 1, "do_sample": False}
    for name, value in plain.items():
        if generating.get(name, value) != value:
            raise ValueError(
                f"a trace is of what is written without sampling or beams, received {name}={generating[name]}"
            )
    return {name: value for name, value in generating.items() if name not in plain}


def _written(model: Any, tokenizer: Any, read: Any, target: str | None, generating: dict) -> Any:
    import torch

    if target is None:
        # That of all models: Whisper's own one leaves the start mark, and what it forces behind it, out of what it returns.
        base: Any = next((each for each in reversed(type(model).__mro__) if "generate" in vars(each)), None)
        if base is None:
            raise ValueError(
                f"{type(model).__name__} generates nothing: give a target, or take the model that has a head for writing"
            )
        return base.generate(model, **read, num_beams=1, do_sample=False, **generating)
    ids = tokenizer(text_target=target, return_tensors="pt").input_ids.to(model.device)
    start = model.config.decoder_start_token_id
    if start is None:
        start = model.generation_config.decoder_start_token_id
    if not ids.shape[1]:
        raise ValueError("the target should have at least one token, received none")
    # BART begins with its end mark, which is all that an empty target has.
    if ids[0, 0] == start and ids.shape[1] > 1:
        return ids
    return torch.cat([torch.full_like(ids[:, :1], start), ids], dim=1)


def _one_side(
    model: Any, processor: Any, given: Any, read: Any, target: str | None, generating: dict, most_frames: int
) -> AttentionTrace:
    """The trace of an encoder, or of a decoder alone, in which only the tokens of a prefix look ahead."""
    prompt = 0
    if target is not None:
        longer = (given[0], given[1] + target) if isinstance(given, tuple) else given + target
        alone, read = read, tensors_of(model, processor, longer)
        prompt = _in_common(alone.input_ids[0], read.input_ids[0])
    if generating:
        prompt = prompt or read.input_ids.shape[1]
        whole = model.generate(**read, num_beams=1, do_sample=False, **generating)
        image = {name: value for name, value in read.items() if "pixel" in name or "image" in name}
        longer = image | {"input_ids": whole[:, :-1]}
        return _decoder(model, processor, whole[0, :-1], longer, whole[0, 1:], prompt)
    out = model(**read, output_attentions=True)
    weights = given_attention(whole_maps(out, read), "attentions")
    length = weights.shape[-1]
    is_decoder = prefix_of(weights) < length if length > 1 else _looks_back(model, read)
    if is_decoder:
        return _decoder(model, processor, read.input_ids[0], read, None, prompt)
    if target is not None:
        raise ValueError(f"{type(model).__name__} is an encoder, which has no target: give both texts as one")
    attention: dict[str, Any] = {"encoder_attention": weights}
    fields = source_fields(model, processor, given, read, weights.shape[-1])
    if model.main_input_name in ("input_features", "input_values"):
        fields, attention = grouped(fields, attention, most_frames)
    else:
        fields |= windows_of(model.config, weights, seen_by_all(out, read))
    return AttentionTrace(**fields, **attention, sinks=tuple(attention) if has_sinks(model) else ())


def _looks_back(model: Any, read: Any) -> bool:
    """Whether a model that reads one token is a decoder: of this token twice, the first does not see the second."""
    import torch

    if "input_ids" not in read:
        return False
    twice = torch.cat([read["input_ids"]] * 2, dim=1)
    return (
        prefix_of(given_attention(model(input_ids=twice, output_attentions=True).attentions, "attentions"))
        < 2
    )


def _decoder(model: Any, processor: Any, ids: Any, read: Any, produced: Any, prompt: int) -> AttentionTrace:
    """A decoder alone that reads ``ids`` (T,); the token that the last row produced is the likeliest, where ``produced`` is None."""
    import torch

    tokenizer, out = tokenizer_of(processor), model(**read, output_attentions=True)
    weights, logits = given_attention(out.attentions, "attentions"), getattr(out, "logits", None)
    if produced is None:
        last = ids[-1:] if logits is None else logits[0, -1:].argmax(-1)
        produced = torch.cat([ids[1:], last])  # (T,)
    return AttentionTrace(
        **text_fields(tokenizer, produced, "target"),
        **patches_read(model, ids, tokens_of(tokenizer, ids)),
        decoder_attention=weights,
        sinks=("decoder_attention",) if has_sinks(model) else (),
        prefix=prefix_of(weights),
        prompt=prompt,
        **windows_of(model.config.get_text_config(), weights),
        **({} if logits is None else probabilities(tokenizer, logits[0], produced)),
    )


def trace_of_decoder(
    model: Any, tokenizer: Any, ids: Any, prompt: int, weights: Any, logits: Any
) -> AttentionTrace:
    """The trace of a pass of a decoder alone.

    ``ids`` (1 + N,), of which it read all but the last one, ``prompt`` of them given; ``weights`` (L, H, N, N); ``logits`` (N, V).
    """
    import torch

    ids = torch.as_tensor(ids, device=logits.device)
    return AttentionTrace(
        **text_fields(tokenizer, ids[1:], "target"),
        **patches_read(model, ids[:-1], tokens_of(tokenizer, ids[:-1])),
        decoder_attention=weights,
        sinks=("decoder_attention",) if has_sinks(model) else (),
        prompt=prompt,
        **windows_of(model.config.get_text_config(), weights),
        **probabilities(tokenizer, logits, ids[1:]),
    )


def _in_common(one: Any, other: Any) -> int:
    """How many ids two sequences begin with alike: at a seam between two texts a tokenizer may join what it splits elsewhere."""
    pairs = zip(one.tolist(), other.tolist(), strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
