"""The encoder-decoder Transformer: encode, decode at once, decode step by step.

B batch, L layers, H heads, S source, T target, P cache positions, D d_model, V vocabulary.
"""

from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from model.attention import Altered, look_ahead_mask, padding_mask
from model.blocks import DecoderBlock, EncoderBlock, PositionalEncoding, TokenEmbedding
from model.config import TransformerConfig
from model.tokenizer import PAD_ID
from model.trace import ATTENTION_KINDS

POSITIONS = 1024  # rows of the sinusoid that a network keeps; sentences are far shorter


class Memory(NamedTuple):
    """What the decoder needs of a source sentence."""

    states: Any  # (B, S, D)
    mask: Any  # (B, 1, 1, S) bool, True at real tokens


class FullPass(NamedTuple):
    """One teacher-forced pass with everything that was looked at."""

    logits: Any  # (B, T, V)
    encoder_attention: Any  # (B, L, H, S, S)
    decoder_attention: Any  # (B, L, H, T, T)
    cross_attention: Any  # (B, L, H, T, S)


class Step(NamedTuple):
    """One position of step-by-step decoding."""

    logits: Any  # (B, V)
    decoder_attention: Any  # (B, L, H, P), 0 at positions not yet decoded
    cross_attention: Any  # (B, L, H, S)
    cache: Any  # per layer (keys, values) of (B, H, P, D/H)


def _of_layer(altered: dict[str, Altered] | None, kind: str, number: int) -> Altered | None:
    found = (altered or {}).get(kind)
    return None if found is None else found.layer(number)


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
        self.encoder_blocks = [EncoderBlock(config, name=f"encoder_{n}") for n in numbers]
        self.decoder_blocks = [DecoderBlock(config, name=f"decoder_{n}") for n in numbers]
        # Pre-normalised blocks leave their sum unnormalised; one normalisation closes each stack.
        self.encoder_norm = self.decoder_norm = None
        if config.norm_first:
            self.encoder_norm = keras.layers.LayerNormalization(epsilon=1e-6, name="encoder_norm")
            self.decoder_norm = keras.layers.LayerNormalization(epsilon=1e-6, name="decoder_norm")

    def build(self, _shape=None):
        shape = (None, None, self.config.d_model)
        norms = [norm for norm in (self.encoder_norm, self.decoder_norm) if norm is not None]
        for layer in (self.embedding, *self.encoder_blocks, *self.decoder_blocks, *norms):
            layer.build(shape)
        self.built = True

    def _embed(self, ids, training, start=0, kept=None):
        tokens = self.embedding(ids)
        if kept is not None:
            tokens = tokens * kept[..., None]  # (B, S, D), (B, S) -> (B, S, D)
        return self.dropout(self.positional_encoding(tokens, start=start), training=training)

    def encode(self, source_ids, training=False, altered=None, kept=None):
        """(B, S) -> Memory and {"encoder_attention": (B, L, H, S, S)}.

        An intervention comes as ``altered``, parts of ``attention.Altered`` stacked over layers by kind of
        attention, and as ``kept`` (B, S), what the embedding of each token is multiplied by.
        """
        mask = padding_mask(source_ids, PAD_ID)
        x = self._embed(source_ids, training, kept=kept)
        attention = []
        for number, block in enumerate(self.encoder_blocks):
            x, weights = block(
                x, mask, training=training, altered=_of_layer(altered, "encoder_attention", number)
            )
            attention.append(weights)
        states = x if self.encoder_norm is None else self.encoder_norm(x)
        return Memory(states, mask), {"encoder_attention": ops.stack(attention, axis=1)}

    def decode(self, decoder_input_ids, memory: Memory, training=False, altered=None, kept=None):
        """(B, T) -> logits (B, T, V), {"decoder_attention": (B, L, H, T, T), "cross_attention": (B, L, H, T, S)}.

        ``altered`` and ``kept`` (B, T): as in ``encode``.
        """
        mask = look_ahead_mask(ops.shape(decoder_input_ids)[1])
        x = self._embed(decoder_input_ids, training, kept=kept)
        decoder_attention, cross_attention = [], []
        for number, block in enumerate(self.decoder_blocks):
            of_layer = tuple(
                _of_layer(altered, kind, number) for kind in ("decoder_attention", "cross_attention")
            )
            x, self_weights, cross_weights = block(
                x, memory.states, mask, memory.mask, training=training, altered=of_layer
            )
            decoder_attention.append(self_weights)
            cross_attention.append(cross_weights)
        seen = {"decoder_attention": decoder_attention, "cross_attention": cross_attention}
        return self._logits(x), {kind: ops.stack(layers, axis=1) for kind, layers in seen.items()}

    def _logits(self, x):
        return self.embedding.logits(x if self.decoder_norm is None else self.decoder_norm(x))

    def full_pass(self, source_ids, decoder_input_ids, training=False) -> FullPass:
        memory, read = self.encode(source_ids, training)
        logits, written = self.decode(decoder_input_ids, memory, training)
        return FullPass(logits, **read, **written)

    def call(self, inputs, training=False):
        source_ids, decoder_input_ids = inputs
        return self.full_pass(source_ids, decoder_input_ids, training=training).logits

    def projections(self, source_ids, decoder_input_ids) -> dict:
        """Of each kind of attention query (B, L, H, Q, D/H), key and value (B, L, H, K, D/H): what the
        weights of ``full_pass`` are computed from."""
        encoder: list[tuple] = []
        decoder: list[tuple] = []
        cross: list[tuple] = []
        memory, _ = self.encode(source_ids)
        x = self._embed(source_ids, training=False)
        for block in self.encoder_blocks:
            encoder.append(block.projections(x))
            x, _ = block(x, memory.mask)
        mask = look_ahead_mask(ops.shape(decoder_input_ids)[1])
        x = self._embed(decoder_input_ids, training=False)
        for block in self.decoder_blocks:
            for found, kind in zip(block.projections(x, memory.states, mask), (decoder, cross), strict=True):
                kind.append(found)
            x, *_ = block(x, memory.states, mask, memory.mask)
        return {
            kind: tuple(ops.stack(layers, axis=1) for layers in zip(*found, strict=True))
            for kind, found in zip(ATTENTION_KINDS, (encoder, decoder, cross), strict=True)
        }

    def memory_keys_values(self, memory: Memory):
        """Per layer, the encoder's keys and values (B, H, S, D/H): projected once for all steps."""
        return [block.cross_attention.keys_values(memory.states) for block in self.decoder_blocks]

    def empty_cache(self, batch, positions: int):
        """Per layer (keys, values), zeros of (B, H, P, D/H)."""
        heads = self.config.num_heads
        zeros = ops.zeros((batch, heads, positions, self.config.d_model // heads))
        return [(zeros, zeros) for _ in self.decoder_blocks]

    def step(self, tokens, index, cache, memory_keys_values, memory_mask) -> Step:
        """Consume ``tokens`` (B,) at position ``index``; the logits are of position ``index + 1``."""
        x = self._embed(tokens[:, None], training=False, start=index)  # (B,) -> (B, 1, D)
        decoder_attention, cross_attention, new_cache = [], [], []
        for block, layer_cache, keys_values in zip(
            self.decoder_blocks, cache, memory_keys_values, strict=True
        ):
            x, self_weights, cross_weights, layer_cache = block.step(
                x, layer_cache, index, keys_values, memory_mask
            )
            decoder_attention.append(self_weights[:, :, 0])  # (B, H, 1, P) -> (B, H, P)
            cross_attention.append(cross_weights[:, :, 0])
            new_cache.append(layer_cache)
        return Step(
            self._logits(x)[:, 0],
            ops.stack(decoder_attention, axis=1),
            ops.stack(cross_attention, axis=1),
            new_cache,
        )

    def start(self, source_ids, positions):
        """``step`` and its first cache, with room for ``positions``, for ``decoding.greedy``."""
        memory, _ = self.encode(source_ids)
        memory_keys_values = self.memory_keys_values(memory)

        def step(tokens, index, cache):
            taken = self.step(tokens, index, cache, memory_keys_values, memory.mask)
            return taken.logits, taken.cache

        return step, self.empty_cache(ops.shape(source_ids)[0], positions)
