"""Whole Transformers in Keras, as tutorials build them: with residual connections, normalisations and feed-forward networks. All are untrained."""

import keras
from keras import layers, ops

from tests.model.adapters.networks import HEADS, VOCABULARY, WIDTH, HandWrittenAttention

LONGEST = 16


class Positions(layers.Layer):
    """Embeddings of tokens times the root of their width, plus those of positions, which are learnt."""

    def __init__(self):
        super().__init__()
        self.tokens, self.places = (
            layers.Embedding(VOCABULARY, WIDTH, mask_zero=True),
            layers.Embedding(LONGEST, WIDTH),
        )

    def call(self, ids):
        return self.tokens(ids) * WIDTH**0.5 + self.places(ops.arange(ids.shape[1]))


class Gated(layers.Layer):
    """A feed-forward network with a gate (Shazeer, "GLU Variants Improve Transformer", 2020)."""

    def __init__(self):
        super().__init__()
        self.opened, self.gate, self.end = (
            layers.Dense(2 * WIDTH, use_bias=False),
            layers.Dense(2 * WIDTH, use_bias=False),
            layers.Dense(WIDTH, use_bias=False),
        )

    def call(self, x):
        return self.end(ops.silu(self.opened(x)) * self.gate(x))


class ByHand(layers.Layer):
    """Attention in single steps. It is called like a layer of Keras."""

    def __init__(self):
        super().__init__()
        self.inner = HandWrittenAttention()

    def call(self, query, memory, use_causal_mask=False):
        size = query.shape[1], memory.shape[1]
        later = 1 - ops.tril(ops.ones(size)) if use_causal_mask else ops.zeros(size)
        return self.inner(query, memory, later)


def of_keras():
    return layers.MultiHeadAttention(HEADS, 3, value_dim=5, dropout=0.1)


def forward():
    return keras.Sequential([layers.Dense(2 * WIDTH, activation="gelu"), layers.Dense(WIDTH)])


class Block(layers.Layer):
    """Sub-layers around which the input is added; the sum is normalised, or with ``norm_first`` the input."""

    def __init__(self, norm_first, attention, feed_forward, norm, is_decoder):
        super().__init__()
        self.norm_first = norm_first
        self.attentions = [attention() for _ in range(1 + is_decoder)]
        self.feed_forward = feed_forward()
        self.norms = [norm() for _ in range(2 + is_decoder)]

    def around(self, number, x, sublayer):
        if self.norm_first:
            return x + sublayer(self.norms[number](x))
        return self.norms[number](x + sublayer(x))

    def call(self, x, memory=None):
        x = self.around(0, x, lambda x: self.attentions[0](x, x, use_causal_mask=memory is not None))
        if memory is not None:
            x = self.around(1, x, lambda x: self.attentions[1](x, memory))
        return self.around(-1, x, self.feed_forward)


class WholeTransformer(keras.Model):
    """Two layers in the encoder and one in the decoder; ``call`` takes a pair."""

    def __init__(
        self,
        norm_first=False,
        attention=of_keras,
        feed_forward=forward,
        norm=layers.LayerNormalization,
        activation=None,
    ):
        super().__init__()
        parts = norm_first, attention, feed_forward, norm
        self.read, self.write = Positions(), Positions()
        self.encoder, self.decoder = [Block(*parts, False) for _ in range(2)], [Block(*parts, True)]
        self.closing = [norm(), norm()] if norm_first else []
        self.out = layers.Dense(VOCABULARY, activation=activation)

    def call(self, pair, training=None):
        memory, state = self.read(pair[0]), self.write(pair[1])
        for block in self.encoder:
            memory = block(memory)
        memory = self.closing[0](memory) if self.closing else memory
        for block in self.decoder:
            state = block(state, memory)
        return self.out(self.closing[1](state) if self.closing else state)


class Causal(layers.Layer):
    """``attention`` that sees no later token, whatever it is asked for."""

    def __init__(self, attention):
        super().__init__()
        self.inner = attention()

    def call(self, query, memory, use_causal_mask=False):
        return self.inner(query, memory, use_causal_mask=True)


def grouped():
    """Both heads share their keys and values (Shazeer 2019)."""
    return layers.GroupQueryAttention(3, HEADS, 1)


class WholeDecoder(keras.Model):
    """Two layers of a decoder alone."""

    def __init__(
        self, norm_first=False, attention=of_keras, feed_forward=forward, norm=layers.LayerNormalization
    ):
        super().__init__()
        parts = norm_first, lambda: Causal(attention), feed_forward, norm
        self.read, self.out = Positions(), layers.Dense(VOCABULARY)
        self.blocks = [Block(*parts, False) for _ in range(2)]
        self.closing = norm() if norm_first else None

    def call(self, ids):
        state = self.read(ids)
        for block in self.blocks:
            state = block(state)
        return self.out(self.closing(state) if self.closing else state)
