"""Attention that always returns its weights beside its output (Vaswani et al. 2017, section 3.2).

B batch, H heads, Q query positions, K key positions, D d_model.
"""

import math
import warnings

import keras
from keras import ops

from model.plain.alterations import AlteredAttention

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
