"""Embedding, feed-forward, and the encoder and decoder blocks that stack (Vaswani et al. 2017, section 3).

B batch, S source, T target, P cache positions, D d_model, F feed-forward width, H heads, V vocabulary.
"""

import math

import keras
import numpy as np
from keras import ops

from model.attention import MultiHeadAttention
from model.config import TransformerConfig
from model.positions import positional_encoding


class TokenEmbedding(keras.layers.Layer):
    """Scaled, jamo-composed token embedding, tied to the output layer (section 3.4 of the paper).

    The vector of a Hangul syllable is the sum of its own row and of the rows of its initial,
    medial and final jamo, so that syllables never seen in training still mean something; any
    other token has its own row alone. ``call``: ids (B, S) -> (B, S, D), times sqrt(D).
    ``logits``: (B, T, D) -> (B, T, V), the dot product with every vocabulary vector.
    """

    TABLES = ("token", "initial", "medial", "final")

    def __init__(self, features: np.ndarray, vocab_size: int, d_model: int, **kwargs):
        super().__init__(**kwargs)
        self.features, self.vocab_size, self.d_model = features, vocab_size, d_model
        self._frozen = None

    def build(self, _shape=None):
        # Four vectors are summed: each has half the deviation that makes the sum's variance 1/D.
        initializer = keras.initializers.RandomNormal(stddev=0.5 / math.sqrt(self.d_model))
        rows = (self.vocab_size, *(int(self.features[:, column].max()) + 1 for column in (1, 2, 3)))
        self.tables = [
            self.add_weight(shape=(count, self.d_model), initializer=initializer, name=f"{name}_embedding")
            for name, count in zip(self.TABLES, rows, strict=True)
        ]
        self.output_bias = self.add_weight(shape=(self.vocab_size,), initializer="zeros", name="output_bias")
        self.built = True

    def _compose(self, features):
        token, *jamo = (ops.take(table, features[..., i], axis=0) for i, table in enumerate(self.tables))
        is_syllable = ops.cast(features[..., 1:2] > 0, token.dtype)
        return token + is_syllable * sum(jamo[1:], start=jamo[0])  # (..., 4) -> (..., D)

    def call(self, ids):
        features = ops.take(ops.convert_to_tensor(self.features), ids, axis=0)  # (B, S) -> (B, S, 4)
        return self._compose(features) * math.sqrt(self.d_model)

    def freeze(self) -> None:
        """Compose the vectors of the vocabulary now, once for all calls of ``logits``: for a network whose
        weights will not change any more."""
        self._frozen = self._vocabulary()

    def thaw(self) -> None:
        """Compose them anew in each call: for a network that is given other weights. Before its graphs are traced."""
        self._frozen = None

    def logits(self, hidden):
        vocabulary = self._vocabulary() if self._frozen is None else self._frozen
        return ops.matmul(hidden, vocabulary) + self.output_bias

    def _vocabulary(self):
        composed = self._compose(ops.convert_to_tensor(self.features[: self.vocab_size]))  # (V, D)
        return ops.transpose(composed)  # (D, V)


class PositionalEncoding(keras.layers.Layer):
    """Adds the sinusoid of each token's position: (B, S, D) -> (B, S, D), counted from ``start``."""

    def __init__(self, d_model: int, positions: int, **kwargs):
        super().__init__(**kwargs)
        self.matrix = positional_encoding(positions, d_model)  # (P, D)

    def call(self, x, start=0):
        position = start + ops.arange(ops.shape(x)[1])
        return x + ops.take(ops.convert_to_tensor(self.matrix), position, axis=0)[None]


def feed_forward(config: TransformerConfig, name: str) -> keras.Sequential:
    """Position-wise: D -> F with ReLU, F -> D linear (section 3.3)."""
    hidden = keras.layers.Dense(config.dff, activation="relu", name="hidden")
    return keras.Sequential([hidden, keras.layers.Dense(config.d_model, name="output")], name=name)


class Residual(keras.layers.Layer):
    """Residual connection and layer normalisation around one sublayer, in either order.

    After it as in the paper, ``norm(x + sublayer(x))``; or before it, ``x + sublayer(norm(x))``
    (Xiong et al., 2020), which trains without a long warm-up. Use: ``x = r.leave(x, f(r.enter(x)))``.
    """

    def __init__(self, config: TransformerConfig, **kwargs):
        super().__init__(**kwargs)
        self.norm_first, self.d_model = config.norm_first, config.d_model
        self.norm = keras.layers.LayerNormalization(epsilon=1e-6, name="norm")
        self.dropout = keras.layers.Dropout(config.dropout_rate)

    def build(self, _shape=None):
        self.norm.build((None, None, self.d_model))
        self.built = True

    def enter(self, x):
        return self.norm(x) if self.norm_first else x

    def leave(self, x, sublayer_output, training=False):
        x = x + self.dropout(sublayer_output, training=training)
        return x if self.norm_first else self.norm(x)


class EncoderBlock(keras.layers.Layer):
    """Self-attention, then feed-forward. x (B, S, D) -> (B, S, D), weights (B, H, S, S)."""

    def __init__(self, config: TransformerConfig, **kwargs):
        super().__init__(**kwargs)
        self.shape = (None, None, config.d_model)
        self.attention = MultiHeadAttention(config.d_model, config.num_heads, name="self_attention")
        self.feed_forward = feed_forward(config, "feed_forward")
        self.around_attention = Residual(config, name="around_attention")
        self.around_feed_forward = Residual(config, name="around_feed_forward")

    def build(self, _shape=None):
        self.attention.build(self.shape, self.shape)
        for layer in (self.feed_forward, self.around_attention, self.around_feed_forward):
            layer.build(self.shape)
        self.built = True

    def projections(self, x):
        """Query, key and value (B, H, S, D/H) of its attention, for the block's input x (B, S, D)."""
        entered = self.around_attention.enter(x)
        return self.attention.projections(entered, entered)

    def call(self, x, source_mask, training=False, altered=None):
        entered = self.around_attention.enter(x)
        attended, weights = self.attention(entered, entered, attention_mask=source_mask, altered=altered)
        x = self.around_attention.leave(x, attended, training)
        fed = self.feed_forward(self.around_feed_forward.enter(x))
        return self.around_feed_forward.leave(x, fed, training), weights


class DecoderBlock(keras.layers.Layer):
    """Masked self-attention, encoder-decoder attention, feed-forward.

    x (B, T, D) -> (B, T, D), self weights (B, H, T, T), cross weights (B, H, T, S). In the
    encoder-decoder attention the query comes from the decoder, key and value from the encoder.
    """

    def __init__(self, config: TransformerConfig, **kwargs):
        super().__init__(**kwargs)
        self.shape = (None, None, config.d_model)
        self.self_attention = MultiHeadAttention(config.d_model, config.num_heads, name="self_attention")
        self.cross_attention = MultiHeadAttention(config.d_model, config.num_heads, name="cross_attention")
        self.feed_forward = feed_forward(config, "feed_forward")
        self.around_self = Residual(config, name="around_self_attention")
        self.around_cross = Residual(config, name="around_cross_attention")
        self.around_feed_forward = Residual(config, name="around_feed_forward")

    def build(self, _shape=None):
        for attention in (self.self_attention, self.cross_attention):
            attention.build(self.shape, self.shape)
        for layer in (self.feed_forward, self.around_self, self.around_cross, self.around_feed_forward):
            layer.build(self.shape)
        self.built = True

    def call(self, x, memory, self_mask, memory_mask, training=False, altered=None):
        """``altered``: two of ``attention.Altered`` or None, of the self-attention and the other."""
        entered = self.around_self.enter(x)
        keys_values = self.self_attention.keys_values(entered)
        memory_keys_values = self.cross_attention.keys_values(memory)
        return self._finish(
            x, entered, keys_values, self_mask, memory_keys_values, memory_mask, training, altered
        )

    def projections(self, x, memory, self_mask):
        """Query, key and value of both attentions, for x (B, T, D) and memory (B, S, D): of the first
        (B, H, T, D/H), of the second the query (B, H, T, D/H) and the others (B, H, S, D/H)."""
        entered = self.around_self.enter(x)
        asked = self.self_attention.projections(entered, entered)
        entered = self.around_cross.enter(self.before_cross(x, self_mask))
        return asked, self.cross_attention.projections(entered, memory)

    def before_cross(self, x, self_mask):
        """The residual stream (B, T, D) between both attentions, for x (B, T, D)."""
        entered = self.around_self.enter(x)
        attended, _ = self.self_attention(entered, entered, attention_mask=self_mask)
        return self.around_self.leave(x, attended)

    def step(self, x, cache, index, memory_keys_values, memory_mask):
        """One position of decoding: x (B, 1, D) at ``index``, cache (keys, values) of (B, H, P, D/H).

        Returns x (B, 1, D), self weights (B, H, 1, P), cross weights (B, H, 1, S), the new cache.
        """
        entered = self.around_self.enter(x)
        new = self.self_attention.keys_values(entered)
        cache = tuple(
            ops.slice_update(old, (0, 0, index, 0), one) for old, one in zip(cache, new, strict=True)
        )
        so_far = (ops.arange(ops.shape(cache[0])[2]) <= index)[None, None, None]  # (P,) -> (1, 1, 1, P)
        out = self._finish(x, entered, cache, so_far, memory_keys_values, memory_mask, False)
        return *out, cache

    def _finish(
        self, x, entered, keys_values, self_mask, memory_keys_values, memory_mask, training, altered=None
    ):
        altered_self, altered_cross = altered or (None, None)
        (keys, values), (memory_keys, memory_values) = keys_values, memory_keys_values
        attended, self_weights = self.self_attention.attend(entered, keys, values, self_mask, altered_self)
        x = self.around_self.leave(x, attended, training)
        entered = self.around_cross.enter(x)
        attended, cross_weights = self.cross_attention.attend(
            entered, memory_keys, memory_values, memory_mask, altered_cross
        )
        x = self.around_cross.leave(x, attended, training)
        fed = self.feed_forward(self.around_feed_forward.enter(x))
        return self.around_feed_forward.leave(x, fed, training), self_weights, cross_weights
