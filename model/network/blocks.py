"""Embedding, feed-forward, and the blocks that stack (Vaswani et al. 2017, section 3).

B batch, S source, T target, P positions, D d_model, F feed-forward width, V vocabulary.
"""

import math

import keras
import numpy as np
from keras import ops

from model.network.attention import MultiHeadAttention
from model.plain.positions import positional_encoding
from model.stored.config import TransformerConfig
from model.stored.paths import ATTENTION_PATHS
from model.trace.patches import ATTENTIONS


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
