"""Small Keras networks as courses write them, for documents and tests of the adapters.

All but that of ``copying`` are untrained.
"""

import keras
import numpy as np
from keras import layers, ops

from model import Vocabulary

VOCABULARY, WIDTH, HEADS, LONGEST = 12, 8, 2, 16


class HandWrittenAttention(layers.Layer):
    """Several heads, each step spelled out; ``mask`` is 1 at hidden keys."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (layers.Dense(WIDTH) for _ in range(4))

    def call(self, query, memory, mask):
        query, key, value = (
            ops.transpose(ops.reshape(part, (1, -1, HEADS, WIDTH // HEADS)), (0, 2, 1, 3))
            for part in (self.query(query), self.key(memory), self.value(memory))
        )
        scores = ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))) / ops.sqrt(float(WIDTH // HEADS))
        mixed = ops.matmul(ops.softmax(scores - 1e9 * mask, axis=-1), value)
        return self.out(ops.reshape(ops.transpose(mixed, (0, 2, 1, 3)), (1, -1, WIDTH)))


class ByHand(HandWrittenAttention):
    """The same, called like a layer of Keras."""

    def call(self, query, memory, use_causal_mask=False):
        size = query.shape[1], memory.shape[1]
        return super().call(
            query, memory, 1 - ops.tril(ops.ones(size)) if use_causal_mask else ops.zeros(size)
        )


def padding_mask(ids):
    return ops.cast(ops.equal(ids, 0), "float32")[:, None, None, :]


class HandWrittenTransformer(keras.Model):
    """Two layers on each side; ``call`` takes source and target one by one."""

    def __init__(self, num_layers: int = 2):
        super().__init__()
        self.embedding = layers.Embedding(VOCABULARY, WIDTH)
        self.encoder = [HandWrittenAttention() for _ in range(num_layers)]
        self.decoder = [(HandWrittenAttention(), HandWrittenAttention()) for _ in range(num_layers)]
        self.out = layers.Dense(VOCABULARY)

    def call(self, source, target, training=None):
        hidden = padding_mask(source)
        later = 1 - ops.tril(ops.ones((target.shape[1], target.shape[1])))
        memory = self.embedding(source)
        for attention in self.encoder:
            memory = memory + attention(memory, memory, hidden)
        state = self.embedding(target)
        for attention, looking in self.decoder:
            state = state + attention(state, state, later)
            state = state + looking(state, memory, hidden)
        return self.out(state)


class OfKerasLayers(keras.Model):
    """``keras.layers.MultiHeadAttention`` with Keras's own masks; ``call`` takes a pair, and returns
    probabilities.
    """

    def __init__(self):
        super().__init__()
        self.embedding = layers.Embedding(VOCABULARY, WIDTH, mask_zero=True)
        self.reading, self.writing, self.looking = (
            layers.MultiHeadAttention(HEADS, WIDTH // HEADS, dropout=rate) for rate in (0.0, 0.0, 0.5)
        )
        self.out = layers.Dense(VOCABULARY, activation="softmax")

    def call(self, pair, training=None):
        source, target = pair
        memory, state = self.embedding(source), self.embedding(target)
        memory = self.reading(memory, memory)
        state = self.writing(state, state, use_causal_mask=True)
        return self.out(self.looking(state, memory, training=training))


class BahdanauDecoder(keras.Model):
    """A recurrent encoder, and a decoder that looks back at each step (Bahdanau, Cho & Bengio 2015)."""

    def __init__(self):
        super().__init__()
        self.embedding = layers.Embedding(VOCABULARY, WIDTH)
        self.encoder = layers.GRU(WIDTH, return_sequences=True, return_state=True)
        self.cell = layers.GRUCell(WIDTH)
        self.memory, self.state, self.score = layers.Dense(WIDTH), layers.Dense(WIDTH), layers.Dense(1)
        self.out = layers.Dense(VOCABULARY, activation="softmax")

    def call(self, source, target):
        memory, state = self.encoder(self.embedding(source))
        read, written = self.embedding(target), []
        for step in range(target.shape[1]):
            scores = self.score(ops.tanh(self.memory(memory) + self.state(state)[:, None]))  # (B, S, 1)
            context = ops.sum(ops.softmax(scores, axis=1) * memory, axis=1)
            state, _ = self.cell(ops.concatenate([read[:, step], context], -1), [state])
            written.append(self.out(state))
        return ops.stack(written, axis=1)


class LookingCell(layers.Layer):
    """One step of a ``keras.layers.RNN`` that looks at the whole of ``memory``."""

    def __init__(self):
        super().__init__()
        self.state_size, self.mix, self.memory = WIDTH, layers.Dense(WIDTH), None

    def call(self, read, states):
        weights = ops.softmax(ops.einsum("bd,bsd->bs", states[0], self.memory), axis=-1)
        state = self.mix(ops.concatenate([read, ops.einsum("bs,bsd->bd", weights, self.memory)], -1))
        return state, [state]


class RecurrentLayer(keras.Model):
    """The loop is Keras's own, which calls its cell once more than the number of tokens."""

    def __init__(self):
        super().__init__()
        self.embedding = layers.Embedding(VOCABULARY, WIDTH)
        self.decoder = layers.RNN(LookingCell(), return_sequences=True)

    def call(self, source, target):
        self.decoder.cell.memory = self.embedding(source)
        return self.decoder(self.embedding(target))


def functional_encoder(length: int | None = None) -> keras.Model:
    """Two layers of a classifier; with a ``length`` it takes no other one."""
    ids = keras.Input((length,), dtype="int32")
    state = layers.Embedding(VOCABULARY, WIDTH, mask_zero=True)(ids)
    for _ in range(2):
        state = layers.LayerNormalization()(state + layers.MultiHeadAttention(HEADS, 4)(state, state))
    return keras.Model(ids, layers.Dense(3)(layers.GlobalAveragePooling1D()(state)))


def functional_encoder_decoder(source_length: int, target_length: int) -> keras.Model:
    """Luong's attention between two functional sides of fixed lengths (Luong, Pham & Manning 2015)."""
    source, target = (keras.Input((length,), dtype="int32") for length in (source_length, target_length))
    embedding = layers.Embedding(VOCABULARY, WIDTH)
    memory = layers.GRU(WIDTH, return_sequences=True)(embedding(source))
    state = layers.GRU(WIDTH, return_sequences=True)(embedding(target))
    return keras.Model([source, target], layers.Dense(VOCABULARY)(layers.Attention()([state, memory])))


class DecoderAlone(keras.Model):
    """A language model: a decoder without an encoder."""

    def __init__(self):
        super().__init__()
        self.embedding, self.out = layers.Embedding(VOCABULARY, WIDTH), layers.Dense(VOCABULARY)
        self.attention = layers.GroupQueryAttention(4, num_query_heads=4, num_key_value_heads=2)

    def call(self, ids):
        state = self.embedding(ids)
        return self.out(self.attention(state, state, use_causal_mask=True))


def seeded(make, *arguments):
    keras.utils.set_random_seed(0)
    return make(*arguments)


class Positions(layers.Layer):
    """Embeddings of tokens times the root of their width, plus those of positions, which are learnt."""

    def __init__(self):
        super().__init__()
        self.tokens = layers.Embedding(VOCABULARY, WIDTH, mask_zero=True)
        self.places = layers.Embedding(LONGEST, WIDTH)

    def call(self, ids):
        return self.tokens(ids) * WIDTH**0.5 + self.places(ops.arange(ids.shape[1]))


class Gated(layers.Layer):
    """A feed-forward network with a gate (Shazeer, "GLU Variants Improve Transformer", 2020)."""

    def __init__(self):
        super().__init__()
        sizes = 2 * WIDTH, 2 * WIDTH, WIDTH
        self.opened, self.gate, self.end = (layers.Dense(size, use_bias=False) for size in sizes)

    def call(self, x):
        return self.end(ops.silu(self.opened(x)) * self.gate(x))


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

    def call(self, x, memory=None, is_causal=False):
        x = self.around(0, x, lambda x: self.attentions[0](x, x, use_causal_mask=is_causal))
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
            state = block(state, memory, is_causal=True)
        return self.out(self.closing[1](state) if self.closing else state)


LETTERS = Vocabulary(
    encode=lambda text: [ord(each) - 94 for each in text],
    decode=lambda ids: "".join(chr(each + 94) for each in ids),
    start=1,
    end=2,
)


def copying(epochs: int = 30) -> WholeTransformer:
    """A ``WholeTransformer`` that writes three letters again, trained for some seconds (seed 0).

    Its tokens are those of ``LETTERS``: 1 begins a text, 2 ends it, 3 is "a".
    """
    model, rng = seeded(WholeTransformer, True), np.random.default_rng(0)
    letters = rng.integers(3, VOCABULARY, (1024, 3))
    read = np.pad(letters, ((0, 0), (1, 0)), constant_values=1)
    wanted = np.pad(letters, ((0, 0), (0, 1)), constant_values=2)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(1e-2), loss, jit_compile=False)
    model.fit((letters, read), wanted, batch_size=64, epochs=epochs, verbose=0)
    return model


def grouped():
    """Both heads share their keys and values (Shazeer 2019)."""
    return layers.GroupQueryAttention(3, HEADS, 1)


class WholeDecoder(keras.Model):
    """Two layers of a decoder-only model."""

    def __init__(self, norm_first=False, attention=of_keras, feed_forward=forward):
        super().__init__()
        parts = norm_first, attention, feed_forward, layers.LayerNormalization
        self.read, self.out = Positions(), layers.Dense(VOCABULARY)
        self.blocks = [Block(*parts, False) for _ in range(2)]
        self.closing = layers.LayerNormalization() if norm_first else None

    def call(self, ids):
        state = self.read(ids)
        for block in self.blocks:
            state = block(state, is_causal=True)
        return self.out(self.closing(state) if self.closing else state)
