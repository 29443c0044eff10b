"""Attention, embeddings, residual connections and blocks, against the papers' formulas and Keras's layers."""

import math
import subprocess
import sys
import unicodedata
from pathlib import Path

import keras
import numpy as np
import pytest

from model.network.layers import (
    MultiHeadAttention,
    TokenEmbedding,
    feed_forward,
    look_ahead_mask,
    padding_mask,
    scaled_dot_product_attention,
)
from model.stored.config import TransformerConfig
from model.text.tokenizer import OUTSIDE_ID, Tokenizer

ROOT = Path(__file__).parents[3]
BATCH, HEADS, QUERIES, KEYS, WIDTH = 2, 4, 5, 7, 12
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


def test_the_second_layer_of_the_feed_forward_network_is_linear():
    network = feed_forward(config(), "feed_forward")
    network.build((None, None, D_MODEL))
    randomise(network)
    x = normal(2, 4, D_MODEL)
    kernel, bias, out_kernel, out_bias = (np.asarray(w) for w in network.weights)
    assert kernel.shape == (D_MODEL, 12)
    expected = np.maximum(x @ kernel + bias, 0) @ out_kernel + out_bias
    np.testing.assert_allclose(network(x), expected, atol=1e-4)
    assert (expected < 0).any()  # a rectifier at the end would have cut these off


@pytest.fixture(scope="module")
def multi_head():
    layer = MultiHeadAttention(WIDTH, HEADS)
    layer.build((None, None, WIDTH), (None, None, WIDTH))
    randomise(layer)
    return layer


def test_masked_cells_are_exactly_0_and_rows_sum_to_1():
    mask = np.random.default_rng(3).random((BATCH, 1, QUERIES, KEYS)) < 0.6
    mask[..., 0] = True
    # Large logits: a masked cell must not win even where every open cell has a very negative logit.
    query, key = normal(BATCH, HEADS, QUERIES, 3, scale=40), normal(BATCH, HEADS, KEYS, 3, seed=1, scale=40)
    _, weights = scaled_dot_product_attention(query, key, key, mask)
    weights = np.asarray(weights)
    closed = np.broadcast_to(~mask, weights.shape)
    assert closed.any()
    assert (weights[closed] == 0).all()
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)


def test_a_row_that_may_look_at_nothing_is_0_and_not_nan():
    mask = np.array([[True, True], [False, False]])
    output, weights = scaled_dot_product_attention(normal(2, 4), normal(2, 4), normal(2, 4), mask)
    np.testing.assert_array_equal(np.asarray(weights)[1], [0, 0])
    np.testing.assert_array_equal(np.asarray(output)[1], np.zeros(4))
    assert np.asarray(weights)[0].sum() == pytest.approx(1)


def test_the_layer_equals_the_one_of_keras(multi_head):
    depth = WIDTH // HEADS
    reference = keras.layers.MultiHeadAttention(HEADS, depth)
    reference.build((BATCH, QUERIES, WIDTH), (BATCH, KEYS, WIDTH))
    split = [(WIDTH, HEADS, depth), (HEADS, depth)]
    kernels_and_biases = []
    for projection in (multi_head.query_projection, multi_head.key_projection, multi_head.value_projection):
        kernels_and_biases += [
            np.reshape(w, shape) for w, shape in zip(projection.get_weights(), split, strict=True)
        ]
    kernel, bias = multi_head.output_projection.get_weights()
    reference.set_weights([*kernels_and_biases, kernel.reshape(HEADS, depth, WIDTH), bias])

    query, key_value = normal(BATCH, QUERIES, WIDTH), normal(BATCH, KEYS, WIDTH, seed=1)
    mask = np.random.default_rng(5).random((BATCH, QUERIES, KEYS)) < 0.5
    mask[..., -1] = True  # keras spreads a row without any key evenly; here such a row is 0
    expected, expected_weights = reference(
        query, key_value, attention_mask=mask, return_attention_scores=True
    )
    output, weights = multi_head(query, key_value, attention_mask=mask[:, None])
    assert weights.shape == (BATCH, HEADS, QUERIES, KEYS)
    np.testing.assert_allclose(weights, expected_weights, atol=1e-5)
    np.testing.assert_allclose(output, expected, atol=1e-5)


def test_keys_and_values_come_from_the_second_argument_alone(multi_head):
    # Between two equal keys there is nothing to choose: whatever asks, the answer is their value.
    key_value = np.repeat(normal(BATCH, 1, WIDTH, seed=1), 2, axis=1)
    answer = np.asarray(multi_head.output_projection(multi_head.value_projection(key_value)))[:, :1]
    for seed in (2, 3):
        output, weights = multi_head(normal(BATCH, QUERIES, WIDTH, seed=seed), key_value)
        np.testing.assert_allclose(weights, np.full((BATCH, HEADS, QUERIES, 2), 0.5), atol=1e-6)
        np.testing.assert_allclose(output, np.repeat(answer, QUERIES, axis=1), atol=1e-5)


@pytest.mark.parametrize("name", ["query", "key", "value", "output"])
def test_every_projection_is_linear(multi_head, name):
    projection = getattr(multi_head, f"{name}_projection")
    x = normal(BATCH, KEYS, WIDTH, seed=4)
    zero = np.asarray(projection(np.zeros_like(x)))
    once = np.asarray(projection(x)) - zero
    np.testing.assert_allclose(np.asarray(projection(-x)) - zero, -once, atol=1e-5)
    np.testing.assert_allclose(np.asarray(projection(3 * x)) - zero, 3 * once, atol=1e-4)
    assert (once < 0).any()  # a rectifier would have cut these off


def test_d_model_must_be_a_multiple_of_num_heads():
    with pytest.raises(ValueError, match="d_model 10 .* num_heads 4"):
        MultiHeadAttention(10, 4)


def test_padding_mask_is_true_at_real_tokens():
    mask = np.asarray(padding_mask(np.array([[5, 3, 0], [4, 0, 0]])))
    assert mask.shape == (2, 1, 1, 3)
    np.testing.assert_array_equal(mask[:, 0, 0], [[True, True, False], [True, False, False]])


def test_look_ahead_mask_lets_a_row_see_itself_and_what_came_before():
    mask = np.asarray(look_ahead_mask(3))
    assert mask.shape == (1, 1, 3, 3)
    np.testing.assert_array_equal(mask[0, 0], [[True, False, False], [True, True, False], [True, True, True]])


def test_a_single_key_is_no_reason_for_a_warning():
    code = """
import numpy as np
from model.network.layers import scaled_dot_product_attention
one = np.ones((1, 1, 1, 4), "float32")
scaled_dot_product_attention(one, one, one)
"""
    command = [sys.executable, "-W", "error:You are using a softmax:UserWarning", "-c", code]
    subprocess.run(command, cwd=ROOT, check=True, timeout=300)
