"""Keras layers of both networks: attention with its weights, embeddings, blocks.

B batch, S source and T target tokens, Q query and K key positions, P positions, H heads, D d_model, F
feed-forward width, V vocabulary.
"""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import KerasTensor as Tensor
from keras import ops

from model.activations.sublayers import positional_encoding
from model.stored.config import ATTENTION_PATHS, MASKED_LOGIT, TransformerConfig
from model.trace.interventions import ATTENTIONS, EPSILON

# Keras takes a softmax over a single key for a mistake. The first row of a decoder has no other key.
warnings.filterwarnings(
    "ignore", "You are using a softmax over axis -1 of a tensor of shape .*, 1\\)", UserWarning
)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """``softmax(query · keyᵀ / sqrt(depth)) · value``, and the softmax itself.

    Reference:
        Vaswani et al. 2017, section 3.2.

    Args:
        query: (..., Q, depth).
        key: (..., K, depth).
        value: (..., K, depth of the values).
        mask: broadcastable to (..., Q, K), True where a query may attend; None for everywhere.

    Returns:
        Output (..., Q, depth of the values) and weights (..., Q, K). Each row of weights sums to 1 and is
        exactly 0 where masked; a row that may attend to nothing is all 0.
    """
    logits = ops.matmul(query, ops.swapaxes(key, -1, -2))  # (..., Q, depth), (..., K, depth) -> (..., Q, K)
    logits = logits / math.sqrt(key.shape[-1])
    if mask is None:
        weights = ops.softmax(logits, axis=-1)
    else:
        weights = ops.softmax(ops.where(mask, logits, MASKED_LOGIT), axis=-1)
        weights = ops.where(mask, weights, 0.0)
    return ops.matmul(weights, value), weights


def padding_mask(ids: Tensor, pad_id: int = 0) -> Tensor:
    """(B, K) ids -> (B, 1, 1, K) bool, True at real tokens."""
    return ops.not_equal(ids, pad_id)[:, None, None, :]  # (B, K) -> (B, 1, 1, K)


def look_ahead_mask(length: int | Tensor) -> Tensor:
    """(1, 1, Q, K) bool with Q = K = length, True where the key is not later than the query."""
    position = ops.arange(length)
    return (position[:, None] >= position[None, :])[None, None]  # (Q,), (K,) -> (1, 1, Q, K)


class MultiHeadAttention(keras.layers.Layer):
    """``num_heads`` attentions side by side; all four projections are linear.

    ``call(query, key_value, attention_mask)``: queries come from ``query`` (B, Q, D), keys and values from
    ``key_value`` (B, K, D). Returns output (B, Q, D) and weights (B, H, Q, K).
    """

    def __init__(self, d_model: int, num_heads: int, **options: Any):
        super().__init__(**options)
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} is not a multiple of num_heads {num_heads}")
        self.d_model, self.num_heads = d_model, num_heads
        self.query_projection = keras.layers.Dense(d_model, name="query")
        self.key_projection = keras.layers.Dense(d_model, name="key")
        self.value_projection = keras.layers.Dense(d_model, name="value")
        self.output_projection = keras.layers.Dense(d_model, name="output")

    def build(self, query_shape: tuple, key_value_shape: tuple | None = None, *_: object) -> None:
        for projection in (self.query_projection, self.output_projection):
            projection.build((*query_shape[:-1], self.d_model))
        for projection in (self.key_projection, self.value_projection):
            projection.build((*(key_value_shape or query_shape)[:-1], self.d_model))
        self.built = True

    def call(
        self, query: Tensor, key_value: Tensor, attention_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        queries = self._split_heads(self.query_projection(query))
        keys = self._split_heads(self.key_projection(key_value))
        values = self._split_heads(self.value_projection(key_value))
        heads, weights = scaled_dot_product_attention(queries, keys, values, attention_mask)
        batch, _, length, _ = ops.shape(heads)
        joined = ops.transpose(heads, (0, 2, 1, 3))  # (B, H, Q, D/H) -> (B, Q, H, D/H)
        joined = ops.reshape(joined, (batch, length, self.d_model))  # -> (B, Q, D)
        return self.output_projection(joined), weights

    def _split_heads(self, x: Tensor) -> Tensor:
        batch, length, _ = ops.shape(x)
        x = ops.reshape(x, (batch, length, self.num_heads, self.d_model // self.num_heads))
        return ops.transpose(x, (0, 2, 1, 3))  # (B, Q, D) -> (B, H, Q, D/H)


class TokenEmbedding(keras.layers.Layer):
    """Scaled, jamo-composed token embedding, tied to the output layer (section 3.4 of the paper).

    The vector of a Hangul syllable is the sum of its own row and of the rows of its initial,
    medial and final jamo, so that syllables never seen in training still mean something. Any
    other token has its own row alone. ``call``: ids (B, S) -> (B, S, D), times sqrt(D).
    ``logits``: (B, T, D) -> (B, T, V), the dot product with every vocabulary vector.
    """

    TABLES = ("token", "initial", "medial", "final")

    def __init__(self, features: np.ndarray, vocab_size: int, d_model: int, **options: Any):
        super().__init__(**options)
        self.features, self.vocab_size, self.d_model = features, vocab_size, d_model

    def build(self, _shape: object = None) -> None:
        # Four vectors are summed: each has half the deviation that makes the sum's variance 1/D.
        initializer = keras.initializers.RandomNormal(stddev=0.5 / math.sqrt(self.d_model))
        rows = (self.vocab_size, *(int(self.features[:, column].max()) + 1 for column in (1, 2, 3)))
        self.tables = [
            self.add_weight(shape=(count, self.d_model), initializer=initializer, name=f"{name}_embedding")
            for name, count in zip(self.TABLES, rows, strict=True)
        ]
        self.output_bias = self.add_weight(shape=(self.vocab_size,), initializer="zeros", name="output_bias")
        self.built = True

    def _compose(self, features: Tensor) -> Tensor:
        token, *jamo = (ops.take(table, features[..., i], axis=0) for i, table in enumerate(self.tables))
        is_syllable = ops.cast(features[..., 1:2] > 0, token.dtype)
        return token + is_syllable * sum(jamo[1:], start=jamo[0])  # (..., 4) -> (..., D)

    def call(self, ids: Tensor) -> Tensor:
        features = ops.take(ops.convert_to_tensor(self.features), ids, axis=0)  # (B, S) -> (B, S, 4)
        return self._compose(features) * math.sqrt(self.d_model)

    def logits(self, hidden: Tensor) -> Tensor:
        vectors = self._compose(ops.convert_to_tensor(self.features[: self.vocab_size]))  # (V, D)
        return ops.matmul(hidden, ops.transpose(vectors)) + self.output_bias


class PositionalEncoding(keras.layers.Layer):
    """Adds the sinusoid of each token's position: (B, S, D) -> (B, S, D)."""

    def __init__(self, d_model: int, positions: int, **options: Any):
        super().__init__(**options)
        self.matrix = positional_encoding(positions, d_model)  # (P, D)

    def call(self, x: Tensor) -> Tensor:
        position = ops.arange(ops.shape(x)[1])
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

    def __init__(self, config: TransformerConfig, **options: Any):
        super().__init__(**options)
        self.norm_first, self.d_model = config.norm_first, config.d_model
        self.norm = keras.layers.LayerNormalization(epsilon=EPSILON, name="norm")
        self.dropout = keras.layers.Dropout(config.dropout_rate)

    def build(self, _shape: object = None) -> None:
        self.norm.build((None, None, self.d_model))
        self.built = True

    def enter(self, x: Tensor) -> Tensor:
        return self.norm(x) if self.norm_first else x

    def leave(self, x: Tensor, sublayer_output: Tensor, training: bool = False) -> Tensor:
        x = x + self.dropout(sublayer_output, training=training)
        return x if self.norm_first else self.norm(x)


ENCODER_KINDS, DECODER_KINDS = ATTENTIONS["encoder"], ATTENTIONS["decoder"]


class Block(keras.layers.Layer):
    """One layer of a stack: attention of each kind, then feed-forward, in residual connections.

    An encoder's block has ENCODER_KINDS, a decoder's DECODER_KINDS. ``call(x, scopes)``: x (B, Q, D); for
    each attention (what it reads (B, K, D), or None for x itself; its mask). Returns (B, Q, D) and the
    weights (B, H, Q, K) of each attention.
    """

    def __init__(self, config: TransformerConfig, kinds: tuple[str, ...], **options: Any):
        super().__init__(**options)
        self.shape = (None, None, config.d_model)
        names = {kind: ATTENTION_PATHS[kind] for kind in kinds}
        self.attentions = {
            kind: MultiHeadAttention(config.d_model, config.num_heads, name=name)
            for kind, (name, _) in names.items()
        }
        self.feed_forward = feed_forward(config, "feed_forward")
        self.arounds = {kind: Residual(config, name=name) for kind, (_, name) in names.items()}
        self.around_feed_forward = Residual(config, name="around_feed_forward")

    def build(self, _shape: object = None) -> None:
        for attention in self.attentions.values():
            attention.build(self.shape, self.shape)
        for layer in (self.feed_forward, *self.arounds.values(), self.around_feed_forward):
            layer.build(self.shape)
        self.built = True

    def call(
        self, x: Tensor, scopes: Sequence[tuple[Tensor | None, Tensor]], training: bool = False
    ) -> tuple[Tensor, list[Tensor]]:
        maps = []
        for (kind, attention), (read, mask) in zip(self.attentions.items(), scopes, strict=True):
            entered = self.arounds[kind].enter(x)
            output, weights = attention(entered, entered if read is None else read, mask)
            x = self.arounds[kind].leave(x, output, training)
            maps.append(weights)
        output = self.feed_forward(self.around_feed_forward.enter(x))
        return self.around_feed_forward.leave(x, output, training), maps
