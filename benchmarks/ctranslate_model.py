"""Conversion of a model folder to CTranslate2: the same weights, so the same text.

The format has everything our network has: blocks that normalise first, two closing normalisations, sinusoids
given as a table. Only the embedding has to be written out: CTranslate2 knows no jamo, so each id gets its
composed vector.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
from ctranslate2.converters.utils import fuse_linear
from ctranslate2.specs import common_spec, transformer_spec

from model.activations.sublayers import positional_encoding
from model.stored.config import POSITIONS
from model.stored.folder import VOCABULARY_FILE, WEIGHTS_FILE, load_vocabulary
from model.text import hangul
from model.text.tokenizer import END, OUTSIDE, SPECIAL_TOKENS, START, Tokenizer


def token_names(tokenizer: Tokenizer) -> list[str]:
    """By id, those that can only be read after those that can be produced."""
    readable = map(chr, range(hangul.FIRST_SYLLABLE, hangul.FIRST_SYLLABLE + hangul.SYLLABLE_COUNT))
    return [*SPECIAL_TOKENS, *tokenizer.characters, *(f"{syllable} outside" for syllable in readable)]


def convert(folder: Path, destination: Path, num_layers: int, num_heads: int) -> None:
    """Write the model of ``folder`` to the empty folder ``destination``."""
    with np.load(folder / WEIGHTS_FILE, allow_pickle=False) as archive:
        weights = {name: archive[name].astype(np.float32) for name in archive.files}
    tokenizer = load_vocabulary(folder / VOCABULARY_FILE)
    spec = transformer_spec.TransformerSpec.from_config(num_layers, num_heads, pre_norm=True)
    _put_embeddings(spec, weights, tokenizer)
    _put_blocks(spec.encoder, weights, "encoder")
    _put_blocks(spec.decoder, weights, "decoder")
    spec.config.layer_norm_epsilon = 1e-6
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = OUTSIDE, START, END
    spec.config.decoder_start_token = START
    names = token_names(tokenizer)
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names[: tokenizer.vocab_size])
    spec.validate()
    spec.optimize(quantization="float32")
    spec.save(str(destination))


def _put_embeddings(spec: Any, weights: dict[str, np.ndarray], tokenizer: Tokenizer) -> None:
    names = ("token", "initial", "medial", "final")
    tables = [weights[f"transformer/embedding/{name}_embedding"] for name in names]
    features = tokenizer.features()
    vectors = tables[0][features[:, 0]]  # (ids, D)
    of_jamo = sum(table[features[:, column]] for column, table in enumerate(tables[1:], 1))
    vectors = np.where(features[:, 1:2] > 0, vectors + of_jamo, vectors).astype(np.float32)
    producible, d_model = vectors[: tokenizer.vocab_size], vectors.shape[1]
    spec.encoder.scale_embeddings = spec.decoder.scale_embeddings = False  # they come scaled
    spec.encoder.embeddings[0].weight = vectors * np.float32(math.sqrt(d_model))
    spec.decoder.embeddings.weight = producible * np.float32(math.sqrt(d_model))
    spec.decoder.projection.weight = producible
    spec.decoder.projection.bias = weights["transformer/embedding/output_bias"]
    for side in (spec.encoder, spec.decoder):
        side.position_encodings.encodings = positional_encoding(POSITIONS, d_model)


def _put_blocks(side: Any, weights: dict[str, np.ndarray], name: str) -> None:
    _put_norm(side.layer_norm, weights, f"transformer/{name}_norm")
    for number, layer in enumerate(side.layer, 1):
        path = f"transformer/{name}_{number}"
        around = "around_attention" if name == "encoder" else "around_self_attention"
        _put_norm(layer.self_attention.layer_norm, weights, f"{path}/{around}/norm")
        query, key, value, output = _attention(weights, f"{path}/self_attention")
        fuse_linear(layer.self_attention.linear[0], [query, key, value])
        layer.self_attention.linear[1] = output
        if name == "decoder":
            _put_norm(layer.attention.layer_norm, weights, f"{path}/around_cross_attention/norm")
            query, key, value, output = _attention(weights, f"{path}/cross_attention")
            fuse_linear(layer.attention.linear[1], [key, value])
            layer.attention.linear[0], layer.attention.linear[2] = query, output
        _put_norm(layer.ffn.layer_norm, weights, f"{path}/around_feed_forward/norm")
        layer.ffn.linear_0 = _linear(weights, f"{path}/feed_forward/hidden")
        layer.ffn.linear_1 = _linear(weights, f"{path}/feed_forward/output")


def _attention(weights: dict[str, np.ndarray], path: str) -> list[common_spec.LinearSpec]:
    return [_linear(weights, f"{path}/{name}") for name in ("query", "key", "value", "output")]


def _linear(weights: dict[str, np.ndarray], path: str) -> common_spec.LinearSpec:
    linear = common_spec.LinearSpec()
    linear.weight = np.ascontiguousarray(weights[f"{path}/kernel"].T)  # (in, out) -> (out, in)
    linear.bias = weights[f"{path}/bias"]
    return linear


def _put_norm(norm: common_spec.LayerNormSpec, weights: dict[str, np.ndarray], path: str) -> None:
    norm.gamma, norm.beta = weights[f"{path}/gamma"], weights[f"{path}/beta"]
