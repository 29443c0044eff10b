import inspect
import math
import unicodedata

import keras
import numpy as np
import pytest

from model.activations.sublayers import positional_encoding
from model.network import layers as attention
from model.network import layers as blocks
from model.network import transformer
from model.network.layers import (
    DECODER_KINDS,
    ENCODER_KINDS,
    Block,
    PositionalEncoding,
    Residual,
    TokenEmbedding,
)
from model.network.transformer import Scope, decoder_scopes, walk
from model.stored.config import TransformerConfig
from model.text.tokenizer import OUTSIDE_ID, Tokenizer
from model.trace.interventions import Found

D_MODEL = 8
TOKENIZER = Tokenizer("a, 가각값한글요")


def config(**settings) -> TransformerConfig:
    sizes = {"vocab_size": TOKENIZER.vocab_size, "d_model": D_MODEL, "num_layers": 2, "num_heads": 2}
    return TransformerConfig(**{**sizes, "dff": 12, "dropout_rate": 0.0, **settings})


def normal(*shape, seed=0, scale=1.0):
    return np.random.default_rng(seed).normal(0, scale, shape).astype(np.float32)


def randomise(layer, seed=0):
    for i, variable in enumerate(layer.weights):
        variable.assign(normal(*variable.shape, seed=(seed, i), scale=0.5))
    return layer


def layer_norm(x, layer):
    """The formula of Ba et al. (2016), in NumPy."""
    x = np.asarray(x)
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-6)
    return scaled * np.asarray(layer.gamma) + np.asarray(layer.beta)


@pytest.fixture(scope="module")
def embedding():
    layer = TokenEmbedding(TOKENIZER.features(), TOKENIZER.vocab_size, D_MODEL)
    layer.build()
    return randomise(layer)


def rows(embedding, character: str, own_row: int) -> np.ndarray:
    """What a syllable's vector should be before scaling; its jamo come from Unicode's decomposition."""
    token, initial, medial, final = (np.asarray(table) for table in embedding.tables)
    jamo = [ord(c) for c in unicodedata.normalize("NFD", character)]
    first, second = jamo[0] - 0x1100, jamo[1] - 0x1161
    coda = jamo[2] - 0x11A7 if len(jamo) == 3 else 0
    return token[own_row] + initial[first + 1] + medial[second + 1] + final[coda + 1]


@pytest.mark.parametrize("syllable", ["가", "각", "값", "요"])
def test_a_syllable_is_its_own_row_and_its_three_jamo_times_the_root_of_d_model(embedding, syllable):
    ids = TOKENIZER.encode_source(syllable)[:1]
    vector = np.asarray(embedding(np.array([ids])))[0, 0]
    np.testing.assert_allclose(vector, rows(embedding, syllable, ids[0]) * math.sqrt(D_MODEL), atol=1e-5)


def test_syllables_never_seen_mean_something_through_their_jamo(embedding):
    vectors = np.asarray(embedding(np.array([TOKENIZER.encode_source("씂쐼")])))[0]
    for vector, syllable in zip(vectors, "씂쐼", strict=False):
        expected = rows(embedding, syllable, OUTSIDE_ID) * math.sqrt(D_MODEL)
        np.testing.assert_allclose(vector, expected, atol=1e-5)
    assert np.abs(vectors[0] - vectors[1]).max() > 0.1


def test_what_is_no_syllable_has_its_own_row_alone(embedding):
    ids = TOKENIZER.encode_source("a, 漢")  # the last one is outside; then the end mark
    vectors = np.asarray(embedding(np.array([ids])))[0]
    expected = np.asarray(embedding.tables[0])[ids] * math.sqrt(D_MODEL)
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_the_output_layer_is_tied_to_the_vectors_of_the_vocabulary(embedding):
    hidden = normal(2, 3, D_MODEL, seed=9)
    vectors = np.asarray(embedding(np.arange(TOKENIZER.vocab_size)[None]))[0] / math.sqrt(D_MODEL)
    expected = hidden @ vectors.T + np.asarray(embedding.output_bias)
    logits = embedding.logits(hidden)
    assert logits.shape == (2, 3, TOKENIZER.vocab_size)
    np.testing.assert_allclose(logits, expected, atol=1e-4)


def test_positional_encoding_is_added_from_a_starting_position():
    layer, x = PositionalEncoding(D_MODEL, 20), normal(2, 5, D_MODEL)
    matrix = positional_encoding(20, D_MODEL)
    np.testing.assert_allclose(layer(x), x + matrix[:5], atol=1e-6)
    np.testing.assert_allclose(layer(x, start=7), x + matrix[7:12], atol=1e-6)


def test_the_second_layer_of_the_feed_forward_network_is_linear():
    network = blocks.feed_forward(config(), "feed_forward")
    network.build((None, None, D_MODEL))
    randomise(network)
    x = normal(2, 4, D_MODEL)
    kernel, bias, out_kernel, out_bias = (np.asarray(w) for w in network.weights)
    assert kernel.shape == (D_MODEL, 12)
    expected = np.maximum(x @ kernel + bias, 0) @ out_kernel + out_bias
    np.testing.assert_allclose(network(x), expected, atol=1e-4)
    assert (expected < 0).any()  # a rectifier at the end would have cut these off


@pytest.mark.parametrize("norm_first", [False, True])
def test_the_residual_connection_in_both_orders(norm_first):
    residual = Residual(config(norm_first=norm_first))
    residual.build()
    randomise(residual)
    x = normal(2, 3, D_MODEL)
    out = residual.leave(x, np.tanh(residual.enter(x)))
    if norm_first:
        expected = x + np.tanh(layer_norm(x, residual.norm))
    else:
        expected = layer_norm(x + np.tanh(x), residual.norm)
    np.testing.assert_allclose(out, expected, atol=1e-5)


@pytest.mark.parametrize("norm_first", [False, True])
def test_an_encoder_block_is_the_formula_of_the_paper(norm_first):
    block = Block(config(norm_first=norm_first), ENCODER_KINDS)
    block.build()
    randomise(block)
    x, mask = normal(2, 5, D_MODEL), np.array([1, 1, 1, 1, 0], bool)[None, None, None]

    around = [block.arounds["encoder_attention"].norm, block.around_feed_forward.norm]
    before = [lambda y, n=n: layer_norm(y, n) if norm_first else y for n in around]
    after = [lambda y, n=n: y if norm_first else layer_norm(y, n) for n in around]
    entered = before[0](x)
    attended, expected_weights = block.attentions["encoder_attention"](entered, entered, attention_mask=mask)
    y = after[0](x + np.asarray(attended))
    expected = after[1](y + np.asarray(block.feed_forward(before[1](y))))

    found = Found(["encoder_attention"])
    out = walk([block], x, {"encoder_attention": Scope(mask)}, found)
    np.testing.assert_allclose(out, expected, atol=1e-4)
    np.testing.assert_allclose(found.layers("encoder_attention")[0], expected_weights, atol=1e-5)


def test_a_decoder_block_asks_the_encoder_and_never_answers_itself():
    block = Block(config(), DECODER_KINDS)
    block.build()
    randomise(block)
    x, memory = normal(2, 4, D_MODEL), normal(2, 6, D_MODEL, seed=1)
    memory_mask, mask = np.array([1, 1, 1, 1, 1, 0], bool)[None, None, None], np.tri(4, dtype=bool)

    own, cross = (block.attentions[kind] for kind in DECODER_KINDS)
    around_own, around_cross = (block.arounds[kind].norm for kind in DECODER_KINDS)
    attended, self_weights = own(x, x, attention_mask=mask)
    y = layer_norm(x + np.asarray(attended), around_own)
    attended, cross_weights = cross(y, memory, attention_mask=memory_mask)
    y = layer_norm(y + np.asarray(attended), around_cross)
    expected = layer_norm(y + np.asarray(block.feed_forward(y)), block.around_feed_forward.norm)

    found = Found(DECODER_KINDS)
    out = walk([block], x, decoder_scopes(4, memory, memory_mask), found)
    got_self, got_cross = (found.layers(kind)[0] for kind in DECODER_KINDS)
    assert got_cross.shape == (2, 2, 4, 6)  # (B, H, T, S): queries of the decoder, keys of the encoder
    np.testing.assert_allclose(got_self, self_weights, atol=1e-5)
    np.testing.assert_allclose(got_cross, cross_weights, atol=1e-5)
    np.testing.assert_allclose(out, expected, atol=1e-4)


def test_layers_implement_call_and_leave_dunder_call_to_keras():
    layers = {
        member
        for module in (attention, blocks, transformer)
        for _, member in inspect.getmembers(module, inspect.isclass)
        if issubclass(member, keras.layers.Layer) and member.__module__ == module.__name__
    }
    assert {TokenEmbedding, Block, transformer.Transformer} <= layers
    for layer in layers:
        assert "__call__" not in vars(layer), layer
    for layer in layers - {Residual, Block}:  # these are walked through, never called
        assert "call" in vars(layer), layer
