"""Keras models of the Transformer and the recurrent network, each one full pass.

Graphs and the NumPy walk compute the same numbers.
"""

from pathlib import Path
from typing import NamedTuple

import keras
import numpy as np
from keras import KerasTensor as Tensor
from keras import ops

from model.network.layers import (
    DECODER_KINDS,
    ENCODER_KINDS,
    Block,
    PositionalEncoding,
    TokenEmbedding,
    look_ahead_mask,
    padding_mask,
    scaled_dot_product_attention,
)
from model.stored.config import POSITIONS, NetworkConfig, Seq2SeqConfig, TransformerConfig
from model.stored.folder import assign_weights, fingerprint, read_description, weights_path
from model.text.tokenizer import PAD_ID, Tokenizer
from model.trace.interventions import EPSILON


class FullPass(NamedTuple):
    """One teacher-forced pass with all of its attention."""

    logits: Tensor  # (B, T, V)
    encoder_attention: Tensor  # (B, L, H, S, S)
    decoder_attention: Tensor  # (B, L, H, T, T)
    cross_attention: Tensor  # (B, L, H, T, S)


class Transformer(keras.Model):
    """``call((source_ids (B, S), decoder_input_ids (B, T)))`` -> logits (B, T, V).

    ``features`` are the tokenizer's, (ids, 4). Padding is id 0, at the end of each row.
    """

    def __init__(self, config: TransformerConfig, features: np.ndarray):
        super().__init__(name="transformer")  # a fixed name: the paths of the weights begin with it
        self.config = config
        self.embedding = TokenEmbedding(features, config.vocab_size, config.d_model, name="embedding")
        self.positional_encoding = PositionalEncoding(config.d_model, POSITIONS, name="positional_encoding")
        self.dropout = keras.layers.Dropout(config.dropout_rate)
        numbers = range(1, config.num_layers + 1)
        self.encoder_blocks = [Block(config, ENCODER_KINDS, name=f"encoder_{n}") for n in numbers]
        self.decoder_blocks = [Block(config, DECODER_KINDS, name=f"decoder_{n}") for n in numbers]
        # Pre-normalised blocks leave their sum unnormalised; one normalisation closes each stack.
        self.encoder_norm = self.decoder_norm = None
        if config.norm_first:
            self.encoder_norm = keras.layers.LayerNormalization(epsilon=EPSILON, name="encoder_norm")
            self.decoder_norm = keras.layers.LayerNormalization(epsilon=EPSILON, name="decoder_norm")

    def build(self, _shape: object = None) -> None:
        shape = (None, None, self.config.d_model)
        norms = [norm for norm in (self.encoder_norm, self.decoder_norm) if norm is not None]
        for layer in (self.embedding, *self.encoder_blocks, *self.decoder_blocks, *norms):
            layer.build(shape)
        self.built = True

    def full_pass(self, source_ids: Tensor, decoder_input_ids: Tensor, training: bool = False) -> FullPass:
        """source_ids (B, S), decoder_input_ids (B, T) -> ``FullPass``."""
        real = padding_mask(source_ids, PAD_ID)
        x, read = self._embed(source_ids, training), []
        for block in self.encoder_blocks:
            x, weights = block(x, [(None, real)], training=training)
            read.append(weights)
        memory = x if self.encoder_norm is None else self.encoder_norm(x)
        past = look_ahead_mask(ops.shape(decoder_input_ids)[1])
        x, written = self._embed(decoder_input_ids, training), []
        for block in self.decoder_blocks:
            x, weights = block(x, [(None, past), (memory, real)], training=training)
            written.append(weights)
        logits = self.embedding.logits(x if self.decoder_norm is None else self.decoder_norm(x))
        attention = [*zip(*read, strict=True), *zip(*written, strict=True)]  # by kind, then by layer
        return FullPass(logits, *(ops.stack(layers, axis=1) for layers in attention))

    def call(self, inputs: tuple[Tensor, Tensor], training: bool = False) -> Tensor:
        return self.full_pass(*inputs, training=training).logits

    def _embed(self, ids: Tensor, training: bool) -> Tensor:
        """The residual stream before the first block: (B, S) -> (B, S, D)."""
        return self.dropout(self.positional_encoding(self.embedding(ids)), training=training)


class RecurrentPass(NamedTuple):
    """One teacher-forced pass with its only attention, L = H = 1.

    Named as in ``model.trace.interventions``.
    """

    logits: Tensor  # (B, T, V)
    cross_attention: Tensor  # (B, L, H, T, S)
    cross_query: Tensor  # (B, L, H, T, D)
    cross_key: Tensor  # (B, L, H, S, D)
    cross_value: Tensor  # (B, L, H, S, D)
    cross_heads: Tensor  # (B, L, H, T, D)


def gated_recurrence(units: int, name: str) -> keras.layers.GRU:
    """Gated recurrent units (Cho et al. 2014): the states (B, S, units) of all steps, and the last.

    On a GPU Keras's layer becomes cuDNN's. On CPU cores it was as fast as a loop with the inputs of all steps
    projected beforehand: 0.79 s of processor time a training step against 0.83 s, of which 0.40 s are spent
    outside the recurrence (D = 256, 70 pairs of 48 tokens).
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

    def build(self, _shape: object = None) -> None:
        shape = (None, None, self.config.d_model)
        recurrent = (*self.encoder_layers, *self.bridges, *self.decoder_layers)
        projections = (self.query_projection, self.key_projection, self.value_projection)
        for layer in (self.embedding, *recurrent, *projections):
            layer.build(shape)
        self.join.build((None, None, 2 * self.config.d_model))
        self.built = True

    def full_pass(
        self, source_ids: Tensor, decoder_input_ids: Tensor, training: bool = False
    ) -> RecurrentPass:
        """source_ids (B, S), decoder_input_ids (B, T) -> ``RecurrentPass``.

        A masked step keeps the state, so padding reaches neither the last state nor the beginning of the
        backward direction.
        """
        mask = ops.not_equal(source_ids, PAD_ID)
        x, states = self.embedding(source_ids), []  # (B, S) -> (B, S, D)
        for encoder, bridge in zip(self.encoder_layers, self.bridges, strict=True):
            x, *last = encoder(self.dropout(x, training=training), mask=mask)
            states.append(bridge(ops.concatenate(last, axis=-1)))  # two of (B, D/2) -> (B, D)
        keys, values = self.key_projection(x), self.value_projection(x)
        x = self.embedding(decoder_input_ids)  # (B, T) -> (B, T, D)
        for decoder, state in zip(self.decoder_layers, states, strict=True):
            x, _ = decoder(self.dropout(x, training=training), initial_state=state)
        query = self.query_projection(x)
        context, weights = scaled_dot_product_attention(query, keys, values, mask[:, None])
        joined = self.join(ops.concatenate([context, x], axis=-1))  # two of (B, T, D) -> (B, T, D)
        logits = self.embedding.logits(self.dropout(joined, training=training))
        return RecurrentPass(
            logits, *(each[:, None, None] for each in (weights, query, keys, values, context))
        )

    def call(self, inputs: tuple[Tensor, Tensor], training: bool = False) -> Tensor:
        return self.full_pass(*inputs, training=training).logits


def build_network(config: NetworkConfig, tokenizer: Tokenizer) -> keras.Model:
    """An untrained, built network of the config's architecture."""
    networks = {"transformer": Transformer, "seq2seq": Seq2Seq}
    network = networks[config.architecture](config, tokenizer.features())
    network.build()
    return network


def load_model_folder(folder: Path, snapshot: int | None = None) -> tuple[keras.Model, Tokenizer, str]:
    """(network, tokenizer, fingerprint) from a folder.

    ``snapshot``: one of ``snapshot_steps``; None takes ``weights.npz``.

    Raises:
        ModelFolderError: with the reason.
    """
    path = weights_path(folder, snapshot)
    files_fingerprint = fingerprint(folder, path)
    config, tokenizer = read_description(folder)
    network = build_network(config, tokenizer)
    assign_weights(network, path)
    return network, tokenizer, files_fingerprint
