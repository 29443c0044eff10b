"""The older network: a recurrent encoder-decoder that attends to the encoder's states.

Its encoder reads in both directions, as that of Bahdanau, Cho & Bengio (2015). Its decoder has the
"global attention" of Luong, Pham & Manning (2015, sections 3 and 3.1): for each target token, after
the recurrence, the state asks once, and what was found is joined to it. What it found does not enter the
next state. So all tokens of a known target can ask at once. The score is the scaled dot product of Vaswani
et al. (2017), so that the maps of both networks compare; embedding and output are the Transformer's.

B batch, S source, T target, D d_model, V vocabulary.
"""

from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from model.network.layers import TokenEmbedding, scaled_dot_product_attention
from model.stored.config import Seq2SeqConfig
from model.text.tokenizer import PAD_ID
from model.trace.interventions import Found


class RecurrentMemory(NamedTuple):
    """What the decoder needs of a source sentence."""

    keys: Any  # (B, S, D)
    values: Any  # (B, S, D)
    mask: Any  # (B, 1, S) bool, True at real tokens
    states: tuple  # per layer (B, D), where the decoder's recurrence begins


class RecurrentPass(NamedTuple):
    """One teacher-forced pass with everything that was looked at."""

    logits: Any  # (B, T, V)
    cross_attention: Any  # (B, L, H, T, S) with L = H = 1


def gated_recurrence(units: int, name: str) -> keras.layers.GRU:
    """Gated recurrent units (Cho et al. 2014): the states (B, S, units) of all steps, and the last.

    On a GPU Keras's layer becomes cuDNN's. On CPU cores it was as fast as a loop with the inputs of all steps projected
    beforehand: 0.79 s of processor time a training step against 0.83 s, of which 0.40 s are spent outside the
    recurrence (D = 256, 70 pairs of 48 tokens).
    """
    return keras.layers.GRU(units, return_sequences=True, return_state=True, name=name)


def bidirectional(d_model: int, name: str) -> keras.layers.Bidirectional:
    """(B, S, D) -> states (B, S, D) and two last states (B, D/2).

    The first half of D has read the sentence up to each token, the second from its end back to it.
    """
    return keras.layers.Bidirectional(gated_recurrence(d_model // 2, "gru"), name=name)


class Seq2Seq(keras.Model):
    """``call((source_ids (B, S), decoder_input_ids (B, T)))`` -> logits (B, T, V).

    ``features`` are the tokenizer's, (ids, 4). Padding is id 0, at the end of each row.
    """

    def __init__(self, config: Seq2SeqConfig, features: np.ndarray):
        super().__init__(name="seq2seq")  # a fixed name: the paths of the weights begin with it
        self.config = config
        width, numbers = config.d_model, range(1, config.num_layers + 1)
        self.embedding = TokenEmbedding(features, config.vocab_size, width, name="embedding")
        self.dropout = keras.layers.Dropout(config.dropout_rate)
        self.encoder_layers = [bidirectional(width, f"encoder_{n}") for n in numbers]
        self.bridges = [keras.layers.Dense(width, activation="tanh", name=f"bridge_{n}") for n in numbers]
        self.decoder_layers = [gated_recurrence(width, f"decoder_{n}") for n in numbers]
        self.query_projection = keras.layers.Dense(width, name="query")
        self.key_projection = keras.layers.Dense(width, name="key")
        self.value_projection = keras.layers.Dense(width, name="value")
        self.join = keras.layers.Dense(width, activation="tanh", name="join")

    def build(self, _shape=None):
        shape = (None, None, self.config.d_model)
        recurrent = (*self.encoder_layers, *self.bridges, *self.decoder_layers)
        projections = (self.query_projection, self.key_projection, self.value_projection)
        for layer in (self.embedding, *recurrent, *projections):
            layer.build(shape)
        self.join.build((None, None, 2 * self.config.d_model))
        self.built = True

    def encode(self, source_ids, training=False, taps=()):
        """(B, S) -> RecurrentMemory, and no taps, because the encoder has no attention. A masked step keeps the state, so padding reaches
        neither the last state nor the beginning of the backward direction.
        """
        mask = ops.not_equal(source_ids, PAD_ID)
        x = self.embedding(source_ids)  # (B, S) -> (B, S, D)
        states = []
        for layer, bridge in zip(self.encoder_layers, self.bridges, strict=True):
            x, *last = layer(self.dropout(x, training=training), mask=mask)
            states.append(bridge(ops.concatenate(last, axis=-1)))  # two of (B, D/2) -> (B, D)
        return RecurrentMemory(
            self.key_projection(x), self.value_projection(x), mask[:, None], tuple(states)
        ), {}

    def decode(self, decoder_input_ids, memory: RecurrentMemory, training=False, taps=("cross_attention",)):
        """(B, T) -> logits (B, T, V), and by name those of ``taps`` that it has, with L = H = 1 (``Seq2SeqConfig.taps``)."""
        found = Found(taps)
        logits = self._logits(self._recur(decoder_input_ids, memory, training), memory, found, training)
        found.put("logits", logits)
        return logits, found.stacked(ops.stack)

    def _logits(self, states, memory: RecurrentMemory, found: Found, training=False):
        """Decoder states (B, T, D) -> logits (B, T, V)."""
        query, keys, values = self.query_projection(states), memory.keys, memory.values
        context, weights = scaled_dot_product_attention(query, keys, values, memory.mask)
        one_head = {"attention": weights, "query": query, "key": keys, "value": values, "heads": context}
        found.add("cross_attention", **{part: x[:, None] for part, x in one_head.items()})
        joined = self.join(ops.concatenate([context, states], axis=-1))  # two of (B, T, D) -> (B, T, D)
        return self.embedding.logits(self.dropout(joined, training=training))

    def _recur(self, decoder_input_ids, memory: RecurrentMemory, training=False):
        """(B, T) -> decoder states (B, T, D)."""
        x = self.embedding(decoder_input_ids)  # (B, T) -> (B, T, D)
        for layer, state in zip(self.decoder_layers, memory.states, strict=True):
            x, _ = layer(self.dropout(x, training=training), initial_state=state)
        return x

    def full_pass(self, source_ids, decoder_input_ids, training=False) -> RecurrentPass:
        memory, _ = self.encode(source_ids, training)
        logits, seen = self.decode(decoder_input_ids, memory, training)
        return RecurrentPass(logits, **seen)

    def call(self, inputs, training=False):
        source_ids, decoder_input_ids = inputs
        return self.full_pass(source_ids, decoder_input_ids, training=training).logits

    def start(self, source_ids, positions):
        """``step`` and its first cache for ``decoding.greedy``; the cache is the state (B, D) of each
        layer, however many ``positions`` there will be."""
        memory, _ = self.encode(source_ids)

        def step(tokens, index, cache):
            x, states = self.embedding(tokens), []  # (B,) -> (B, D)
            for layer, state in zip(self.decoder_layers, cache, strict=True):
                x, _ = layer.cell(x, [state])
                states.append(x)
            return self._logits(x[:, None], memory, Found())[:, 0], tuple(states)

        return step, memory.states
