"""``trace_keras`` on sparse attention: windows and other masks as hidden cells.

Needs Keras.
"""

import keras
import numpy as np
import pytest
from keras import layers, ops

from examples.keras_networks import (
    HEADS,
    VOCABULARY,
    WIDTH,
    HandWrittenAttention,
    HandWrittenTransformer,
    OfKerasLayers,
    padding_mask,
    seeded,
)
from model.adapters.capture import Maps
from model.adapters.keras import trace_keras
from model.trace.trace import AttentionTrace
from viz import explore

SOURCE, TARGET = [5, 3, 9, 4, 6], [1, 7, 8, 2]


def far(rows: int, columns: int, window: int) -> np.ndarray:
    return np.abs(np.subtract.outer(np.arange(rows), np.arange(columns))) > window


class Near(keras.Model):
    """An encoder: its first layer sees one token to either side by an ``attention_mask``, its second all."""

    def __init__(self):
        super().__init__()
        self.embedding = layers.Embedding(VOCABULARY, WIDTH, mask_zero=True)
        self.attention = [layers.MultiHeadAttention(HEADS, WIDTH // HEADS) for _ in range(2)]

    def call(self, ids):
        state, length = self.embedding(ids), ids.shape[1]
        for attention, window in zip(self.attention, (1, length), strict=True):
            seen = ops.convert_to_tensor(~far(length, length, window)[None])
            state = state + attention(state, state, attention_mask=seen)
        return state


class NearDecoder(keras.Model):
    """A decoder alone by hand: each row sees itself and the token before it."""

    def __init__(self):
        super().__init__()
        self.embedding, self.out = layers.Embedding(VOCABULARY, WIDTH), layers.Dense(VOCABULARY)
        self.attention = HandWrittenAttention()

    def call(self, ids):
        state, size = self.embedding(ids), (ids.shape[1],) * 2
        hidden = np.triu(np.ones(size, bool), 1) | far(*size, 1)
        return self.out(state + self.attention(state, state, ops.convert_to_tensor(hidden.astype("float32"))))


class Strided(keras.Model):
    """Its encoder-decoder attention sees every other source token (strided, Child et al. 2019)."""

    def __init__(self):
        super().__init__()
        self.embedding, self.out = layers.Embedding(VOCABULARY, WIDTH), layers.Dense(VOCABULARY)
        self.attention = [HandWrittenAttention() for _ in range(3)]

    def call(self, source, target):
        own, before, looking = self.attention
        length = source.shape[1]
        odd = ops.convert_to_tensor((np.arange(length) % 2).astype("float32"))
        memory, state = self.embedding(source), self.embedding(target)
        memory = memory + own(memory, memory, padding_mask(source))
        state = state + before(state, state, 1 - ops.tril(ops.ones((target.shape[1],) * 2)))
        return self.out(state + looking(state, memory, ops.maximum(odd, padding_mask(source))))


class NearHead(keras.Model):
    """An encoder whose first head sees one token to either side, and whose second sees all."""

    def __init__(self):
        super().__init__()
        self.embedding, self.attention = layers.Embedding(VOCABULARY, WIDTH), HandWrittenAttention()

    def call(self, ids):
        state, size = self.embedding(ids), (ids.shape[1],) * 2
        hidden = np.stack([far(*size, 1), np.zeros(size, bool)])[None]
        return self.attention(state, state, ops.convert_to_tensor(hidden.astype("float32")))


def opened(trace: AttentionTrace, tmp_path) -> AttentionTrace:
    """``trace`` itself, once it is right, drawn, and read back from its file."""
    trace.check()
    assert b'"sparse"' in explore(trace).page
    trace.save(tmp_path / "trace.npz")
    found = AttentionTrace.load(tmp_path / "trace.npz")
    for kind in trace.kinds:
        for layer in range(trace.shape(kind)[0]):
            np.testing.assert_array_equal(found.masked(kind, layer), trace.masked(kind, layer))
    return trace


def test_a_window_of_one_layer(tmp_path):
    trace = opened(trace_keras(seeded(Near), SOURCE), tmp_path)
    assert trace.shape("encoder_attention") == (2, HEADS)
    np.testing.assert_array_equal(trace.masked("encoder_attention", 0), far(5, 5, 1))
    assert not trace.masked("encoder_attention", 1).any() and not trace.masked("encoder_attention").any()


def test_padding_is_no_part_of_a_window():
    trace = trace_keras(seeded(Near), [5, 3, 9, 4, 0])
    expected = far(5, 5, 1)
    expected[4] = expected[:, 4] = False
    np.testing.assert_array_equal(trace.masked("encoder_attention", 0), expected)
    assert trace.padded("encoder_attention")[4].all()


def test_a_window_of_a_decoder(tmp_path):
    trace = opened(trace_keras(seeded(NearDecoder), SOURCE), tmp_path)
    np.testing.assert_array_equal(trace.masked("decoder_attention", 0), trace.decoder_attention[0, 0] == 0)
    np.testing.assert_array_equal(trace.decoder_masked[0], np.tril(far(5, 5, 1)))


def test_a_mask_of_encoder_decoder_attention(tmp_path):
    trace = opened(trace_keras(seeded(Strided), SOURCE, TARGET), tmp_path)
    assert trace.encoder_masked is None and trace.decoder_masked is None
    np.testing.assert_array_equal(trace.masked("cross_attention", 0), np.tile(np.arange(5) % 2 == 1, (3, 1)))


def test_a_mask_of_some_heads_alone_is_told():
    with pytest.warns(UserWarning, match=r"encoder_attention: .*\(layer 0, heads 0, counted from 0\)"):
        trace = trace_keras(seeded(NearHead), SOURCE)
    assert trace.encoder_masked is None  # the other head of the layer looks there
    assert not trace.encoder_attention[0, 0][far(5, 5, 1)].any() and trace.encoder_attention[0, 1].all()


@pytest.mark.filterwarnings("error:.*some heads alone")
@pytest.mark.parametrize("make", [HandWrittenTransformer, OfKerasLayers])
def test_padding_and_order_alone_are_no_sparse_attention(make):
    trace = trace_keras(seeded(make), [5, 3, 9, 0, 0], [1, 7, 8, 2, 0])
    assert trace.encoder_masked is None and trace.decoder_masked is None and trace.cross_masked is None


def test_a_head_that_is_sure_hides_nothing():
    """Its other weights are exactly 0, but no mask made them so."""
    scores = np.float32([[[900, 0], [-1e9, 3]]])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    assert (weights == 0).sum() == 2
    assert Maps.of(weights, scores).masked.tolist() == [[[False, False], [True, False]]]
    assert not Maps.of(weights, None).masked.any()


def test_minus_infinity_is_masked_also_in_a_row_that_sees_nothing():
    scores = np.float32([[[-np.inf, -np.inf], [-np.inf, 0]]])
    weights = np.float32([[[0, 0], [0, 1]]])
    assert Maps.of(weights, scores).masked.tolist() == [[[True, True], [True, False]]]
