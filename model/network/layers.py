"""The layers of both networks: attention that returns its weights, embeddings, residual connections, blocks."""

import math
import warnings

import keras
import numpy as np
from keras import ops

from model.activations.replacements import AlteredAttention
from model.activations.sublayers import positional_encoding
from model.stored.config import ATTENTION_PATHS, TransformerConfig
from model.trace.interventions import ATTENTIONS

# Keras takes a softmax over a single key for a mistake. The first row of a decoder has no other key.
warnings.filterwarnings(
    "ignore", "You are using a softmax over axis -1 of a tensor of shape .*, 1\\)", UserWarning
)

MASKED_LOGIT = -1e9  # exp(MASKED_LOGIT - any real logit) underflows to exactly 0 in float32


def scaled_dot_product_attention(query, key, value, mask=None):
    """``softmax(query · keyᵀ / sqrt(depth)) · value`` and the softmax itself.

    Args:
        query: (..., Q, depth); key: (..., K, depth); value: (..., K, depth of the values).
        mask: broadcastable to (..., Q, K), True where a query may look; None lets all look at all.

    Returns:
        output (..., Q, depth of the values) and weights (..., Q, K). Each row of weights sums to 1
        and is exactly 0 where masked; a row with nothing to look at is all 0.
    """
    logits = ops.matmul(query, ops.swapaxes(key, -1, -2))  # (..., Q, depth), (..., K, depth) -> (..., Q, K)
    logits = logits / math.sqrt(key.shape[-1])
    if mask is None:
        weights = ops.softmax(logits, axis=-1)
    else:
        weights = ops.softmax(ops.where(mask, logits, MASKED_LOGIT), axis=-1)
        weights = ops.where(mask, weights, 0.0)
    return ops.matmul(weights, value), weights


def altered_attention(query, key, value, mask, altered: AlteredAttention):
    """``scaled_dot_product_attention`` under an intervention, for query (B, H, Q, D/H), key and value (B, H, K, D/H).

    The weights that are returned are those that were used, replaced ones included.
    """
    if altered.seen is not None:
        seen = altered.seen[:, None, None, :]  # (B, K) -> (B, 1, 1, K)
        mask = seen if mask is None else ops.logical_and(mask, seen)
    if altered.values is not None:
        value = value * altered.values[:, None, :, None]  # (B, K) -> (B, 1, K, 1)
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    if altered.weights is not None:
        weights = ops.where(altered.replaced[..., None], altered.weights, weights)
        output = ops.matmul(weights, value)
    if altered.gates is not None:
        output = output * altered.gates[:, :, None, None]  # (B, H) -> (B, H, 1, 1)
    if altered.added is not None:
        output = output + altered.added[:, :, None, :]  # (B, H, D/H) -> (B, H, 1, D/H)
    return output, weights


def padding_mask(ids, pad_id: int = 0):
    """(B, K) ids -> (B, 1, 1, K) bool, True at real tokens."""
    return ops.not_equal(ids, pad_id)[:, None, None, :]  # (B, K) -> (B, 1, 1, K)


def look_ahead_mask(length):
    """(1, 1, Q, K) bool with Q = K = length, True where the key is not later than the query."""
    position = ops.arange(length)
    return (position[:, None] >= position[None, :])[None, None]  # (Q,), (K,) -> (1, 1, Q, K)


class MultiHeadAttention(keras.layers.Layer):
    """``num_heads`` attentions side by side; all four projections are linear.

    ``call(query, key_value, attention_mask)``: query (B, Q, D) asks, key_value (B, K, D) answers. Returns
    output (B, Q, D) and weights (B, H, Q, K). ``queries``, ``keys_values`` and ``join`` are its parts.
    ``walk.walk`` calls them one by one, so that a cache can take the place of keys and values, and taps can be handed out.
    """

    def __init__(self, d_model: int, num_heads: int, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} is not a multiple of num_heads {num_heads}")
        self.d_model, self.num_heads = d_model, num_heads
        self.query_projection = keras.layers.Dense(d_model, name="query")
        self.key_projection = keras.layers.Dense(d_model, name="key")
        self.value_projection = keras.layers.Dense(d_model, name="value")
        self.output_projection = keras.layers.Dense(d_model, name="output")

    def build(self, query_shape, key_value_shape=None, *_):
        for projection in (self.query_projection, self.output_projection):
            projection.build((*query_shape[:-1], self.d_model))
        for projection in (self.key_projection, self.value_projection):
            projection.build((*(key_value_shape or query_shape)[:-1], self.d_model))
        self.built = True

    def _split_heads(self, x):
        batch, length, _ = ops.shape(x)
        x = ops.reshape(x, (batch, length, self.num_heads, self.d_model // self.num_heads))
        return ops.transpose(x, (0, 2, 1, 3))  # (B, Q, D) -> (B, H, Q, D/H)

    def queries(self, query):
        """(B, Q, D) -> (B, H, Q, D/H)."""
        return self._split_heads(self.query_projection(query))

    def keys_values(self, key_value):
        """(B, K, D) -> two of (B, H, K, D/H)."""
        keys = self._split_heads(self.key_projection(key_value))
        return keys, self._split_heads(self.value_projection(key_value))

    def join(self, heads):
        """What the heads found, (B, H, Q, D/H), through the output projection -> (B, Q, D)."""
        batch, _, length, _ = ops.shape(heads)
        joined = ops.transpose(heads, (0, 2, 1, 3))  # (B, H, Q, D/H) -> (B, Q, H, D/H)
        return self.output_projection(ops.reshape(joined, (batch, length, self.d_model)))  # -> (B, Q, D)

    def call(self, query, key_value, attention_mask=None):
        keys, values = self.keys_values(key_value)
        heads, weights = scaled_dot_product_attention(self.queries(query), keys, values, attention_mask)
        return self.join(heads), weights


class TokenEmbedding(keras.layers.Layer):
    """Scaled, jamo-composed token embedding, tied to the output layer (section 3.4 of the paper).

    The vector of a Hangul syllable is the sum of its own row and of the rows of its initial,
    medial and final jamo, so that syllables never seen in training still mean something. Any
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
        """Compose them anew in each call, for a network that is given other weights. Call it before its graphs are traced."""
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


ENCODER_KINDS, DECODER_KINDS = ATTENTIONS["encoder"], ATTENTIONS["decoder"]


class Block(keras.layers.Layer):
    """The layers of one block: attention of each of ``kinds``, then feed-forward, each inside a residual connection.

    An encoder's block has ENCODER_KINDS, a decoder's DECODER_KINDS. ``walk.walk`` goes through it; it is never called.
    """

    def __init__(self, config: TransformerConfig, kinds: tuple[str, ...], **kwargs):
        super().__init__(**kwargs)
        self.shape = (None, None, config.d_model)
        names = {kind: ATTENTION_PATHS[kind] for kind in kinds}
        self.attentions = {
            kind: MultiHeadAttention(config.d_model, config.num_heads, name=name)
            for kind, (name, _) in names.items()
        }
        self.feed_forward = feed_forward(config, "feed_forward")
        self.arounds = {kind: Residual(config, name=name) for kind, (_, name) in names.items()}
        self.around_feed_forward = Residual(config, name="around_feed_forward")

    def build(self, _shape=None):
        for attention in self.attentions.values():
            attention.build(self.shape, self.shape)
        for layer in (self.feed_forward, *self.arounds.values(), self.around_feed_forward):
            layer.build(self.shape)
        self.built = True
