"""Attention traces of Hugging Face text models, and an adapter for their tokenizers.

The models are encoder-decoders, encoders and decoder-only ones.

B is 1 here; L layers, H heads, S source tokens, T target tokens, N tokens of one sequence, V vocabulary.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from itertools import pairwise
from os.path import commonprefix
from typing import TYPE_CHECKING, Any

import numpy as np

from model.adapters.capture import check_same_pass
from model.adapters.own_passes import Declared, array_of
from model.adapters.torch import evaluating
from model.adapters.trace_building import prefix_of, probabilities
from model.trace.checks import EVERYWHERE, beyond
from model.trace.strict_npz import TraceError
from model.trace.trace import AttentionTrace

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel
    from transformers import PreTrainedTokenizerBase as Tokenizer
    from transformers.utils import ModelOutput

Options = dict[str, object]  # of ``model.generate``
_IN_PIECES = (
    "A layer that attends in blocks or windows has no map of all tokens. Take layers that see everything, "
    "such as attention_type='original_full' of BigBird, or build the maps yourself and give them to "
    "AttentionTrace"
)


def from_transformers(
    model: PreTrainedModel, tokenizer: Tokenizer, text: str, target: str | None = None, **generating: object
) -> AttentionTrace:
    """Trace one pass of a text model of transformers, with every attention that the model returns.

    In a decoder-only model each row produces the next token. During the pass the model is in evaluation mode
    and computes its attention eagerly, the only way that returns it; afterwards it is as it was.

    >>> from_transformers(marian, tokenizer, "the cat sat", max_new_tokens=20)  # doctest: +SKIP

    Args:
        model: an encoder (BERT), an encoder-decoder (MarianMT, T5, BART) or a decoder-only model.
        tokenizer: the model's own one.
        text: the text that it reads.
        target: the text that an encoder-decoder should write, by default the one that it generates without
            sampling or beams. A decoder-only model reads it after ``text``.
        generating: options of ``model.generate``. With them a decoder-only model continues, and ``prompt``
            counts the given tokens.

    Raises:
        TraceError: for attention that the model does not return, or a pass that differs from the model's.
        ValueError: for a model that reads no text, a missing tokenizer, and options without anything to
            generate.
    """
    import torch

    model = getattr(model, "_orig_mod", model)  # of torch.compile
    check_texts(model, tokenizer)
    generating = _without_sampling(generating)
    read = _tensors(model, tokenizer, text)
    with torch.no_grad(), evaluating(model):
        if "decoder_input_ids" in signature(model.forward).parameters:
            written = _written(model, tokenizer, read, target, generating)  # (1, 1 + T), the start mark first
            out = _attending(model, read | {"decoder_input_ids": written[:, :-1]})
            return _encoder_decoder(tokenizer, read["input_ids"][0], written[0], out)
        if generating and not model.can_generate():
            raise ValueError(f"an encoder generates nothing, received {sorted(generating)}")
        return _one_sequence(model, tokenizer, (text, target), read, generating)


def check_texts(model: PreTrainedModel, tokenizer: object) -> None:
    """Raise ValueError for a model that reads no text, and for an object that is no tokenizer."""
    if getattr(model, "main_input_name", "input_ids") != "input_ids":
        raise ValueError(
            f"the model should read a text, but {type(model).__name__} reads {model.main_input_name}"
        )
    if not hasattr(tokenizer, "eos_token_id"):
        raise ValueError(f"the tokenizer should be the model's own one, received {type(tokenizer).__name__}")


@contextmanager
def eager_attention(model: PreTrainedModel) -> Iterator[None]:
    """Attention that returns its weights (B, H, Q, K), and no dropout, inside the ``with``."""
    configs = {id(part.config): part.config for part in model.modules() if hasattr(part, "config")}
    before = [(each, getattr(each, "_attn_implementation", None)) for each in configs.values()]
    model.set_attn_implementation("eager")
    try:
        with evaluating(model):
            yield
    finally:
        for config, own in before:  # parts come after the whole, and may name another attention
            config._attn_implementation = own


def _attending(model: PreTrainedModel, read: dict[str, Tensor]) -> ModelOutput:
    """The output of a pass with its attention.

    Raises TraceError where it differs from that of the model's own pass.
    """
    # A cache is of no use in one pass, and some models return attention of other shapes with one.
    without_cache = {"use_cache": False} if "use_cache" in signature(model.forward).parameters else {}
    with eager_attention(model):
        out = model(**read, **without_cache, output_attentions=True)
    own = model(**read, **without_cache)
    shown = "logits" if hasattr(own, "logits") else "last_hidden_state"
    check_same_pass(getattr(own, shown, None), getattr(out, shown, None), type(model).__name__)
    return out


def _encoder_decoder(tokenizer: Tokenizer, ids: Tensor, written: Tensor, out: ModelOutput) -> AttentionTrace:
    """``ids`` (S,), ``written`` (1 + T,) with the start mark first."""
    texts, written = TransformersTexts(tokenizer), written.tolist()
    return AttentionTrace(
        **texts.fields("source", ids.tolist()),
        **texts.fields("target", written[1:]),
        decoder_input_tokens=texts.labels(written[:-1]),
        encoder_attention=_attention(out.encoder_attentions, "encoder_attention"),
        decoder_attention=_attention(out.decoder_attentions, "decoder_attention"),
        cross_attention=_attention(out.cross_attentions, "cross_attention"),
        **probabilities(_logits_of(out), np.array(written[1:]), texts.labels),
    )


def _logits_of(out: ModelOutput) -> np.ndarray | None:
    """(T, V); None of a body alone, and of a classifier, whose logits have no tokens."""
    logits = getattr(out, "logits", None)
    return None if logits is None or logits.ndim != 3 else array_of(logits)[0]


def _one_sequence(
    model: PreTrainedModel,
    tokenizer: Tokenizer,
    texts: tuple[str, str | None],
    read: dict[str, Tensor],
    generating: Options,
) -> AttentionTrace:
    """An encoder, or a decoder-only network, in which only the tokens of a prefix look ahead."""
    import torch

    prompt, produced = 0, None
    if texts[1] is not None:
        alone, read = read, _tensors(model, tokenizer, texts[0] + texts[1])
        # At a seam between texts a tokenizer may join tokens.
        prompt = len(commonprefix([each["input_ids"][0].tolist() for each in (alone, read)]))
    if generating:
        prompt = prompt or read["input_ids"].shape[1]
        whole = model.generate(**read, num_beams=1, do_sample=False, **generating)
        read, produced = {"input_ids": whole[:, :-1]}, whole[0, 1:].tolist()
    out = _attending(model, read)
    weights = _attention(getattr(out, "attentions", None), "attentions")
    if (layers := getattr(model.config, "num_hidden_layers", len(weights))) != len(weights):
        kinds = getattr(model.config, "layer_types", None) or getattr(model.config, "layers_block_type", [])
        which = [number for number, kind in enumerate(kinds) if "linear" not in kind and "attention" in kind]
        named = f"the layers {which}" if len(which) == len(weights) else f"{len(weights)} layers"
        message = (
            f"{named} of the {layers} of {type(model).__name__} have attention; the trace counts them alone"
        )
        warnings.warn(message, UserWarning, stacklevel=3)
    seen = weights
    if weights.shape[-1] == 1:  # of the token twice, a decoder's first one does not see the second
        twice = _attending(model, {"input_ids": torch.cat([read["input_ids"]] * 2, dim=1)})
        seen = _attention(twice.attentions, "attentions")
    names, ids = TransformersTexts(tokenizer), read["input_ids"][0].tolist()
    if prefix_of(seen) == seen.shape[-1] and not generating:
        if texts[1] is not None:
            raise ValueError(
                f"{type(model).__name__} is an encoder, which has no target: give both texts as one"
            )
        source = names.fields("source", ids)
        return AttentionTrace(
            **source, encoder_attention=weights, **declared(model, weights, "encoder_attention")
        )
    known = _logits_of(out)
    if produced is None:
        produced = [*ids[1:], ids[-1] if known is None else int(known[-1].argmax())]
    return AttentionTrace(
        **names.fields("target", produced),
        decoder_input_tokens=names.labels(ids),
        decoder_attention=weights,
        prefix=prefix_of(weights),
        prompt=prompt,
        **declared(model, weights, "decoder_attention"),
        **probabilities(known, np.array(produced), names.labels),
    )


def declared(model: PreTrainedModel, weights: np.ndarray, kind: str) -> Declared:
    """The fields ``sinks`` and ``windows`` of a trace, as a model declares them.

    ``weights`` (L, H, N, N): those of the self-attention ``kind``. An attention sink is a score for no token
    (gpt-oss, Agarwal et al. 2025). A window is how far a row sees to either side (Beltagy et al. 2020); a
    layer that looks farther than its config says has none.
    """
    found: Declared = {"sinks": (kind,)} if has_sinks(model) else {}
    config = model.config.get_text_config()
    if (both := getattr(config, "local_attention", None)) is not None:  # ModernBERT
        window = both // 2
    elif (size := getattr(config, "sliding_window", None)) is not None:  # Mistral, Gemma
        window = size - 1  # the token itself counts
    else:
        return found
    kinds = getattr(config, "layer_types", None) or ["sliding_attention"] * len(weights)
    hidden = beyond(weights.shape[-1], window)
    windows = tuple(
        window if kind == "sliding_attention" and not layer[:, hidden].any() else EVERYWHERE
        for kind, layer in zip(kinds, weights, strict=False)
    )
    return found if set(windows) == {EVERYWHERE} else {**found, "windows": windows}


def has_sinks(model: PreTrainedModel) -> bool:
    """Whether each softmax has one more column, whose weight falls on no token."""
    return any(name.rpartition(".")[2] == "sinks" for name, _ in model.named_parameters())


def _without_sampling(generating: Options) -> Options:
    """The options of ``generate``. Raises ValueError for those that would sample, or search with beams."""
    plain = {"num_beams": 1, "do_sample": False}
    for name, value in plain.items():
        if generating.get(name, value) != value:
            received = f"received {name}={generating[name]}"
            raise ValueError(f"a trace is of what is written without sampling or beams, {received}")
    return {name: value for name, value in generating.items() if name not in plain}


def _tensors(model: PreTrainedModel, tokenizer: Tokenizer, text: str) -> dict[str, Tensor]:
    """The model's arguments for one text."""
    if not isinstance(text, str):
        raise ValueError(f"{type(model).__name__} reads a text, received {type(text).__name__}")  # noqa: TRY004
    read = tokenizer(text, return_tensors="pt")
    if not read["input_ids"].shape[-1]:
        raise ValueError("the text should have at least one token, received none")
    if getattr(model.config, "is_encoder_decoder", False) or not getattr(model.config, "type_vocab_size", 0):
        read.pop("token_type_ids", None)  # of no use to these, and refused by most of them
    return dict(read.to(model.device))


def _written(
    model: PreTrainedModel,
    tokenizer: Tokenizer,
    read: dict[str, Tensor],
    target: str | None,
    generating: Options,
) -> Tensor:
    """(1, 1 + T) ids, the start mark first."""
    import torch

    if target is None:
        if not hasattr(model, "generate") or not model.can_generate():
            advice = "give a target, or take the model that has a head for writing"
            raise ValueError(f"{type(model).__name__} generates nothing: {advice}")
        return model.generate(**read, num_beams=1, do_sample=False, **generating)
    ids = tokenizer(text_target=target, return_tensors="pt").input_ids.to(model.device)
    if not ids.shape[1]:
        raise ValueError("the target should have at least one token, received none")
    start = start_mark(model)
    if ids[0, 0] == start and ids.shape[1] > 1:  # BART begins with its end mark, all that an empty target has
        return ids
    return torch.cat([torch.full_like(ids[:, :1], start), ids], dim=1)


def start_mark(model: PreTrainedModel) -> int:
    """The id that a decoder reads first. Raises ValueError where neither config names one."""
    for config in (model.config, getattr(model, "generation_config", None)):
        if (start := getattr(config, "decoder_start_token_id", None)) is not None:
            return int(start)
    raise ValueError(f"{type(model).__name__} should have a config.decoder_start_token_id, received none")


def _attention(attentions: Sequence[Tensor | None] | None, kind: str) -> np.ndarray:
    """L tensors (1, H, Q, K) -> (L, H, Q, K); raises TraceError where a model returns no whole maps."""
    if not attentions or any(each is None for each in attentions):
        advice = "Its layers have an attention that returns no weights even where it is computed eagerly"
        raise TraceError(kind, "be returned by the model", "none", advice)
    shapes = [tuple(getattr(each, "shape", ())) for each in attentions]
    for layer, shape in enumerate(shapes):
        if (
            len(shape) != 4
            or shape[0] != 1
            or shape != shapes[0]
            or kind != "cross_attention"
            and shape[2] != shape[3]
        ):
            found = f"{shape or type(attentions[layer]).__name__} in layer {layer}, {shapes[0]} in layer 0"
            raise TraceError(kind, "have layers of one shape (1, H, Q, K)", found, _IN_PIECES)
    return np.concatenate([array_of(each) for each in attentions])


class TransformersTexts:
    """A tokenizer as ``own_passes.Texts``, for an encoder-decoder whose decoder reads ``start`` first."""

    def __init__(self, tokenizer: Tokenizer, start: int | None = None):
        self._tokenizer, self._start = tokenizer, start

    def encode_source(self, text: str) -> list[int]:
        """(S,) ids, with the tokenizer's marks."""
        return self._tokenizer(text).input_ids

    def encode_target(self, text: str) -> list[int]:
        """(T,) ids, without a start mark of the tokenizer's own, which the decoder would read twice."""
        ids = self._tokenizer(text_target=text).input_ids
        return ids[1:] if len(ids) > 1 and ids[0] == self._start else ids

    def decode(self, ids: Sequence[int], source: str = "") -> str:
        return self._tokenizer.decode(list(ids), skip_special_tokens=True)

    def labels(self, ids: Sequence[int]) -> tuple[str, ...]:
        """(N,) the token of each of N ids; one that only the model knows is called by its number."""
        found = self._tokenizer.convert_ids_to_tokens([int(each) for each in ids])
        return tuple(
            str(int(each)) if token is None else token for each, token in zip(ids, found, strict=True)
        )

    def fields(self, side: str, ids: Sequence[int], text: str | None = None) -> dict[str, Any]:
        """The fields ``<side>_tokens``, ``_text`` and ``_spans``.

        The span of a token is its addition to the decoded text.
        """
        ends = [len(self.decode(ids[:count])) for count in range(len(ids) + 1)]
        # The first bytes of a character are decoded as replacement characters, and the others remove them.
        ends = np.minimum.accumulate(ends[::-1])[::-1].tolist()
        spans = tuple(pairwise(ends))
        return {f"{side}_tokens": self.labels(ids), f"{side}_text": self.decode(ids), f"{side}_spans": spans}


class DecoderTexts(TransformersTexts):
    """The same for a decoder-only network: the source is a prompt, which the target continues."""

    def encode_source(self, text: str) -> list[int]:
        """Raises ValueError for a prompt without any token: no start mark could stand for it."""
        if not (ids := super().encode_source(text)):
            raise ValueError("the prompt should have at least one token, received none")
        return ids

    def encode_target(self, text: str) -> list[int]:
        """(T,) ids, without marks before them, the end mark last."""
        return [*self._tokenizer(text, add_special_tokens=False).input_ids, self._tokenizer.eos_token_id]
