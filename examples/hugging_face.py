"""Traces of models from Hugging Face transformers, one function for each sort of network.

Each switches the model to ``attn_implementation="eager"``, the only one that returns its attention, and to evaluation,
in which a dropped weight would break the sum of a row.
"""

from itertools import pairwise

import numpy as np
import torch

from model import AttentionTrace


@torch.no_grad()
def trace_encoder_decoder(model, tokenizer, text: str, **options) -> AttentionTrace:
    """One pass of MarianMT, T5, BART … over what the model generates for ``text``.

    ``options`` go to ``model.generate``.
    """
    model.eval().set_attn_implementation("eager")
    read = tokenizer(text, return_tensors="pt", return_token_type_ids=False).to(model.device)
    written = model.generate(
        **read, num_beams=1, do_sample=False, **options
    )  # (1, 1 + T), the start mark first
    out = model(**read, decoder_input_ids=written[:, :-1], output_attentions=True)
    return AttentionTrace(
        **tokens_of(tokenizer, read.input_ids[0], "source"),
        **tokens_of(tokenizer, written[0, 1:], "target"),
        decoder_input_tokens=tuple(tokenizer.convert_ids_to_tokens(written[0, :-1])),
        encoder_attention=stacked(out.encoder_attentions),
        decoder_attention=stacked(out.decoder_attentions),
        cross_attention=stacked(out.cross_attentions),
        **probabilities(tokenizer, out.logits[0], written[0, 1:]),
    )


@torch.no_grad()
def trace_encoder(model, tokenizer, text: str) -> AttentionTrace:
    """One pass of BERT, RoBERTa, ELECTRA … over ``text``."""
    model.eval().set_attn_implementation("eager")
    read = tokenizer(text, return_tensors="pt").to(model.device)
    out = model(**read, output_attentions=True)
    return AttentionTrace(
        **tokens_of(tokenizer, read.input_ids[0], "source"), encoder_attention=stacked(out.attentions)
    )


@torch.no_grad()
def trace_decoder(model, tokenizer, text: str) -> AttentionTrace:
    """One pass of GPT-2, Llama … over ``text``. The last row produces what the model finds likeliest to follow."""
    model.eval().set_attn_implementation("eager")
    read = tokenizer(text, return_tensors="pt", return_token_type_ids=False).to(model.device)
    out = model(**read, output_attentions=True)
    written = torch.cat([read.input_ids[0, 1:], out.logits[0, -1:].argmax(-1)])  # (T,)
    return AttentionTrace(
        **tokens_of(tokenizer, written, "target"),
        decoder_input_tokens=tuple(tokenizer.convert_ids_to_tokens(read.input_ids[0])),
        decoder_attention=stacked(out.attentions),
        **probabilities(tokenizer, out.logits[0], written),
    )


def stacked(attentions: tuple[torch.Tensor, ...]) -> np.ndarray:
    """L tensors (1, H, Q, K) -> (L, H, Q, K) float32."""
    return torch.cat(attentions).float().cpu().numpy()


def tokens_of(tokenizer, ids: torch.Tensor, side: str) -> dict[str, object]:
    """The fields ``<side>_tokens``, ``_text`` and ``_spans``; a token stands where it lengthens what is decoded."""
    ends = [len(tokenizer.decode(ids[:count], skip_special_tokens=True)) for count in range(len(ids) + 1)]
    # The first bytes of a character are decoded as signs that the next ones take back.
    ends = np.minimum.accumulate(ends[::-1])[::-1].tolist()
    return {
        f"{side}_tokens": tuple(tokenizer.convert_ids_to_tokens(ids)),
        f"{side}_text": tokenizer.decode(ids, skip_special_tokens=True),
        f"{side}_spans": tuple(pairwise(ends)),
    }


def probabilities(tokenizer, logits: torch.Tensor, ids: torch.Tensor, count: int = 5) -> dict[str, object]:
    """The fields about what each row might have produced. ``logits`` (T, V), ``ids`` (T,)."""
    logs = logits.float().log_softmax(-1)
    likeliest = logs.topk(count)  # (T, A)
    return {
        "log_probabilities": logs.gather(-1, ids[:, None])[:, 0].cpu().numpy(),
        "alternatives": tuple(tuple(tokenizer.convert_ids_to_tokens(row)) for row in likeliest.indices),
        "alternative_probabilities": likeliest.values.exp().cpu().numpy(),
    }
