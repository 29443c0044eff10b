"""The encoder-decoder Transformer: encode, decode at once, decode step by step.

B batch, L layers, H heads, S source, T target, P cache positions, D d_model, V vocabulary.
"""

from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from model.network.attention import padding_mask
from model.network.blocks import DECODER_KINDS, ENCODER_KINDS, Block, PositionalEncoding, TokenEmbedding
from model.network.walk import Scope, decoder_scopes, walk
from model.plain.alterations import Altered
from model.stored.config import TransformerConfig
from model.text.tokenizer import PAD_ID
from model.trace.taps import Found, tap
from model.trace.trace import ATTENTION_KINDS

POSITIONS = 1024  # rows of the sinusoid that a network keeps; sentences are far shorter


class Memory(NamedTuple):
    """What the decoder needs of a source sentence."""

    states: Any  # (B, S, D)
    mask: Any  # (B, 1, 1, S) bool, True at real tokens


class FullPass(NamedTuple):
    """One teacher-forced pass with all of its attention."""

    logits: Any  # (B, T, V)
    encoder_attention: Any  # (B, L, H, S, S)
    decoder_attention: Any  # (B, L, H, T, T)
    cross_attention: Any  # (B, L, H, T, S)


class DecodingStep(NamedTuple):
    """One position of step-by-step decoding."""

    logits: Any  # (B, V)
    decoder_attention: Any  # (B, L, H, P), 0 at positions not yet decoded
    cross_attention: Any  # (B, L, H, S)
    cache: Any  # per layer (keys, values) of (B, H, P, D/H)


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
            self.encoder_norm = keras.layers.LayerNormalization(epsilon=1e-6, name="encoder_norm")
            self.decoder_norm = keras.layers.LayerNormalization(epsilon=1e-6, name="decoder_norm")

    def build(self, _shape=None):
        shape = (None, None, self.config.d_model)
        norms = [norm for norm in (self.encoder_norm, self.decoder_norm) if norm is not None]
        for layer in (self.embedding, *self.encoder_blocks, *self.decoder_blocks, *norms):
            layer.build(shape)
        self.built = True

    def _embed(self, ids, side, found, training=False, altered=None, first_position=0):
        """The residual stream before the first block: (B, S) -> (B, S, D)."""
        tokens = self.embedding(ids)
        if altered is not None and altered.embedding_scale is not None:
            tokens = tokens * altered.embedding_scale[..., None]  # (B, S, D), (B, S) -> (B, S, D)
        found.put(tap(side, "embedding"), tokens)
        return self.dropout(self.positional_encoding(tokens, start=first_position), training=training)

    def encode(self, source_ids, training=False, altered: Altered | None = None, taps=ATTENTION_KINDS):
        """(B, S) -> Memory, and by name those of ``taps`` that are the encoder's: (B, L, H, S, S) "encoder_attention", …

        ``taps.TAPS`` lists all names. ``altered``: what an intervention changes in this half.
        """
        found, mask = Found(taps), padding_mask(source_ids, PAD_ID)
        scopes = {"encoder_attention": Scope(mask)}
        x = self._embed(source_ids, "encoder", found, training, altered)
        x = walk(self.encoder_blocks, x, scopes, found, training, altered and altered.attention)
        states = x if self.encoder_norm is None else self.encoder_norm(x)
        found.put("memory", states)
        return Memory(states, mask), found.stacked(ops.stack)

    def decode(
        self,
        decoder_input_ids,
        memory: Memory,
        training=False,
        altered: Altered | None = None,
        taps=ATTENTION_KINDS,
    ):
        """(B, T) -> logits (B, T, V), and by name those of ``taps`` that are the decoder's; see ``encode``."""
        found = Found(taps)
        scopes = decoder_scopes(ops.shape(decoder_input_ids)[1], *memory)
        x = self._embed(decoder_input_ids, "decoder", found, training, altered)
        x = walk(self.decoder_blocks, x, scopes, found, training, altered and altered.attention)
        logits = self._logits(x)
        found.put("logits", logits)
        return logits, found.stacked(ops.stack)

    def _logits(self, x):
        return self.embedding.logits(x if self.decoder_norm is None else self.decoder_norm(x))

    def full_pass(self, source_ids, decoder_input_ids, training=False) -> FullPass:
        memory, read = self.encode(source_ids, training)
        logits, written = self.decode(decoder_input_ids, memory, training)
        return FullPass(logits, **read, **written)

    def call(self, inputs, training=False):
        source_ids, decoder_input_ids = inputs
        return self.full_pass(source_ids, decoder_input_ids, training).logits

    def memory_keys_values(self, memory: Memory):
        """Per layer, the encoder's keys and values (B, H, S, D/H): projected once for all steps."""
        attentions = (block.attentions["cross_attention"] for block in self.decoder_blocks)
        return [attention.keys_values(memory.states) for attention in attentions]

    def empty_cache(self, batch, positions: int):
        """Per layer (keys, values), zeros of (B, H, P, D/H)."""
        heads = self.config.num_heads
        zeros = ops.zeros((batch, heads, positions, self.config.d_model // heads))
        return [(zeros, zeros) for _ in self.decoder_blocks]

    def step(self, tokens, index, cache, memory_keys_values, memory_mask) -> DecodingStep:
        """Consume ``tokens`` (B,) at position ``index``; the logits are of position ``index + 1``."""
        so_far = (ops.arange(ops.shape(cache[0][0])[2]) <= index)[None, None, None]  # (P,) -> (1, 1, 1, P)

        def with_cache(attention, entered, layer):
            new = attention.keys_values(entered)
            return tuple(
                ops.slice_update(old, (0, 0, index, 0), one)
                for old, one in zip(cache[layer], new, strict=True)
            )

        scopes = {
            "decoder_attention": Scope(so_far, with_cache),
            "cross_attention": Scope(memory_mask, lambda _, __, layer: memory_keys_values[layer]),
        }
        found = Found((*scopes, "decoder_key", "decoder_value"))
        x = self._embed(tokens[:, None], "decoder", found, first_position=index)  # (B,) -> (B, 1, D)
        x = walk(self.decoder_blocks, x, scopes, found)
        # The key and value of a step are those of all positions so far: the cache of the next one.
        new_cache = list(zip(found.layers("decoder_key"), found.layers("decoder_value"), strict=True))
        # (B, L, H, 1, P) -> (B, L, H, P)
        own, cross = (ops.stack(found.layers(kind), axis=1)[..., 0, :] for kind in scopes)
        return DecodingStep(self._logits(x)[:, 0], own, cross, new_cache)

    def start(self, source_ids, positions):
        """``step`` and its first cache, with room for ``positions``, for ``decoding.greedy``."""
        memory, _ = self.encode(source_ids)
        memory_keys_values = self.memory_keys_values(memory)

        def step(tokens, index, cache):
            taken = self.step(tokens, index, cache, memory_keys_values, memory.mask)
            return taken.logits, taken.cache

        return step, self.empty_cache(ops.shape(source_ids)[0], positions)
