"""The edge between tensors and NumPy: a loaded network as two compiled functions.

B batch, S source, T target, L layers, H heads, V vocabulary. Left of this file is TensorFlow,
right of it there are only NumPy arrays.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from model.decoding import greedy
from model.tokenizer import END_ID, START_ID, pad
from model.transformer import Transformer


def longest_target(source_length):
    """How many tokens a correction may have: all spaces may be missing, every third token at most."""
    return source_length + source_length // 3 + 16


class Produced(NamedTuple):
    """One decoded sentence of T tokens."""

    ids: list[int]  # T, the end mark last
    log_probabilities: np.ndarray  # (T,) float32, natural logarithm


_IDS = tf.TensorSpec((None, None), tf.int32)


class CompiledNetwork:
    """``produce`` corrected ids, or look at everything with ``attend``. Safe to call from threads."""

    def __init__(self, network: Transformer):
        self.network = network
        # One graph for all shapes: a sentence of another length costs no new compilation.
        self._produce = tf.function(self._decode, input_signature=[_IDS], autograph=False)
        self._attend = tf.function(self._full_pass, input_signature=[_IDS, _IDS], autograph=False)

    def produce(self, sources: Sequence[Sequence[int]]) -> list[Produced | None]:
        """For each sentence's ids, the most probable token at each place, the end mark last; None
        where no end mark came within ``longest_target``, so that nobody takes a torso for an answer."""
        tokens, log_probabilities = (array.numpy() for array in self._produce(pad(sources)))
        produced = []
        for source, row, logs in zip(sources, tokens.tolist(), log_probabilities, strict=True):
            # A longer neighbour in the batch must not give a sentence more room than it has alone.
            row = row[: longest_target(len(source))]
            length = row.index(END_ID) + 1 if END_ID in row else 0
            produced.append(Produced(row[:length], logs[:length]) if length else None)
        return produced

    def attend(self, source: Sequence[int], target: Sequence[int]) -> dict[str, np.ndarray]:
        """One teacher-forced pass over one sentence: what step-by-step decoding saw, at once.

        ``target`` are T produced ids, the end mark last. Returns encoder_attention (L, H, S, S),
        decoder_attention (L, H, T, T), cross_attention (L, H, T, S) and log_probabilities (T,).
        """
        decoder_input = [START_ID, *target[:-1]]
        logits, encoder, decoder, cross = self._attend(pad([source]), pad([decoder_input]))
        log_probabilities = tf.nn.log_softmax(logits[0]).numpy()  # (T, V)
        return {
            "encoder_attention": encoder[0].numpy(),
            "decoder_attention": decoder[0].numpy(),
            "cross_attention": cross[0].numpy(),
            "log_probabilities": log_probabilities[np.arange(len(target)), np.asarray(target)],
        }

    def _full_pass(self, source, decoder_input):
        return tuple(self.network.full_pass(source, decoder_input))

    def _decode(self, source):
        batch, length = tf.shape(source)[0], tf.shape(source)[1]
        memory, _ = self.network.encode(source)
        memory_keys_values = self.network.memory_keys_values(memory)

        def step(tokens, index, cache):
            taken = self.network.step(tokens, index, cache, memory_keys_values, memory.mask)
            return taken.logits, taken.cache

        positions = longest_target(length)
        return greedy(step, self.network.empty_cache(batch, positions), batch, positions)
