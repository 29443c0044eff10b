"""``walk``: the one function that goes through a stack of blocks. Every pass uses it.

Encoding, decoding, step-by-step decoding, projections, interventions and gradients are all this walk with other arguments. ``taps``
names what it shall hand out (``model/trace/interventions.py`` lists the names and shapes). ``altered`` holds what an intervention changes.
No layer stores anything. A pass without taps and without interventions compiles to a graph that has neither. In step-by-step
decoding self-attention looks at the cache, and its keys and values become the next cache.

To add a tap: one line in ``TAPS``, and one ``found.add`` or ``found.put`` where it is computed, here and in ``model/plain``
(``walk.py``, ``halves.py``, ``patched_rows.py``).

B batch, Q query and K key positions, D d_model, H heads.

The encoder-decoder Transformer: encode, decode at once, decode step by step.

B batch, L layers, H heads, S source, T target, P cache positions, D d_model, V vocabulary.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from model.activations.replacements import Altered, AlteredAttention
from model.network.layers import (
    DECODER_KINDS,
    ENCODER_KINDS,
    Block,
    PositionalEncoding,
    TokenEmbedding,
    altered_attention,
    look_ahead_mask,
    padding_mask,
)
from model.stored.config import TransformerConfig
from model.text.tokenizer import PAD_ID
from model.trace.interventions import Found, tap
from model.trace.trace import ATTENTION_KINDS


def own_keys_values(attention, entered, _layer: int):
    """Self-attention: the rows that ask are the rows that are looked at."""
    return attention.keys_values(entered)


class Scope(NamedTuple):
    """What the queries of one kind of attention may look at."""

    mask: Any  # broadcastable to (B, H, Q, K) bool, True where a query may look
    # (attention, its input (B, Q, D), number of the layer) -> keys and values (B, H, K, D/H)
    keys_values: Callable = own_keys_values


def decoder_scopes(length, states, mask) -> dict[str, Scope]:
    """The scopes for a whole target of ``length`` tokens: each token sees itself, the tokens before it, and the real source tokens.

    Of the source the encoder left ``states`` (B, S, D) and ``mask`` (B, 1, 1, S).
    """
    return {
        "decoder_attention": Scope(look_ahead_mask(length)),
        "cross_attention": Scope(mask, lambda attention, *_: attention.keys_values(states)),
    }


def walk(
    blocks: Sequence[Block],
    x,
    scopes: Mapping[str, Scope],
    found: Found,
    training: bool = False,
    altered: Mapping[str, AlteredAttention] | None = None,
):
    """Send the residual stream x (B, Q, D) through all ``blocks`` -> (B, Q, D). ``found`` collects the taps on the way.

    ``scopes``: one for each kind of attention of a block, in their order. ``altered``: what an intervention makes of some kinds,
    stacked over these blocks.
    """
    side = "encoder" if "encoder_attention" in scopes else "decoder"

    def through(x, around, sublayer):
        output = sublayer(around.enter(x))
        x = around.leave(x, output, training)
        found.add(side, output=output, residual=x)
        return x

    found.add(side, residual=x)
    for layer, block in enumerate(blocks):
        for kind, scope in scopes.items():
            changed = (altered or {}).get(kind, AlteredAttention()).layer(layer)
            attend = partial(_attend, block.attentions[kind], kind, layer, scope, changed, found)
            x = through(x, block.arounds[kind], attend)
        x = through(x, block.around_feed_forward, block.feed_forward)
    return x


def _attend(attention, kind: str, layer: int, scope: Scope, altered: AlteredAttention, found: Found, entered):
    """The output (B, Q, D) of one attention for its input (B, Q, D)."""
    query = attention.queries(entered)
    key, value = scope.keys_values(attention, entered, layer)
    heads, weights = altered_attention(query, key, value, scope.mask, altered)
    found.add(kind, attention=weights, query=query, key=key, value=value, heads=heads)
    return attention.join(heads)


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
