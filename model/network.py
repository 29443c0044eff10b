"""The edge between tensors and NumPy: a loaded network as a few compiled functions.

B batch, S source, T target, L layers, H heads, V vocabulary. Left of this file is TensorFlow,
right of it there are only NumPy arrays.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from model.decoding import greedy
from model.projections import Projections
from model.tokenizer import END_ID, START_ID, pad

ALTERNATIVES = 5  # tokens of each row that a trace keeps


def longest_target(source_length):
    """How many tokens a correction may have: all spaces may be missing, every third token at most."""
    return source_length + source_length // 3 + 16


class Produced(NamedTuple):
    """One decoded sentence of T tokens."""

    ids: list[int]  # T, the end mark last
    log_probabilities: np.ndarray  # (T,) float32, natural logarithm


_IDS = tf.TensorSpec((None, None), tf.int32)


class CompiledNetwork:
    """``produce`` corrected ids, look at everything with ``attend``, at what attention is computed from with
    ``project``, or weigh alternatives with ``probabilities``. Safe to call from threads.

    Any network will do that has ``call((source_ids, decoder_input_ids))`` -> logits,
    ``full_pass(source_ids, decoder_input_ids)`` -> a NamedTuple of logits (B, T, V) and whatever
    attention it has, each (B, L, H, Q, K) under its name in ATTENTION_KINDS, ``projections`` of the
    same names and ids, an ``embedding`` of ids, and
    ``start(source_ids, positions)`` -> the step and cache of ``decoding.greedy``.
    """

    def __init__(self, network: keras.Model):
        self.network = network
        # One graph for all shapes: a sentence of another length costs no new compilation.
        self._produce = tf.function(self._decode, input_signature=[_IDS], autograph=False)
        self._attend = tf.function(self._full_pass, input_signature=[_IDS] * 3, autograph=False)
        self._probabilities = tf.function(self._weigh, input_signature=[_IDS] * 4, autograph=False)
        self._projections = tf.function(network.projections, input_signature=[_IDS] * 2, autograph=False)

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

        ``target`` are T produced ids, the end mark last. Returns log_probabilities (T,), the ids (T, A)
        and probabilities (T, A) of the ALTERNATIVES most probable tokens of each row, the most probable
        first, and, of encoder_attention (L, H, S, S), decoder_attention (L, H, T, T) and
        cross_attention (L, H, T, S), those which the network has.
        """
        seen = self._attend(pad([source]), pad([_decoder_input(target)]), pad([target]))
        return {name: array[0].numpy() for name, array in seen.items()}

    def project(
        self, source: Sequence[int], target: Sequence[int], padding: int = 0
    ) -> dict[str, Projections]:
        """Of each kind of attention what its weights in ``attend`` are computed from.

        With ``padding`` both sides are that many padding tokens longer, as in a batch with longer sentences.
        """
        ids = (pad([row], len(row) + padding) for row in (source, _decoder_input(target)))
        found = self._projections(*ids)
        return {kind: Projections(*(part[0].numpy() for part in parts)) for kind, parts in found.items()}

    def embeddings(self, ids: Sequence[int]) -> np.ndarray:
        """(S, D) float32 of S ids: the vectors before they are multiplied by sqrt(D)."""
        scaled = self.network.embedding(np.array([ids], np.int32)).numpy()[0]
        return scaled / math.sqrt(scaled.shape[-1])

    def probabilities(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        alternatives: Sequence[Sequence[int]],
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each sentence, two (T,) of log-probabilities, in one teacher-forced pass over all of them:
        of the T ``targets`` ids, and of the T ``alternatives`` in their places.

        An alternative may be any id of the tokenizer's; one that the network cannot produce has -inf.
        """
        for target, alternative in zip(targets, alternatives, strict=True):
            if len(target) != len(alternative):
                raise ValueError(
                    f"an alternative for each target token: {len(target)} expected, "
                    f"received {len(alternative)}"
                )
        if not sources:
            return []
        decoder_inputs = pad([_decoder_input(target) for target in targets])
        weighed = self._probabilities(pad(sources), decoder_inputs, pad(targets), pad(alternatives))
        of_targets, of_alternatives = (array.numpy() for array in weighed)  # (B, T)
        return [
            (of_targets[i, : len(target)], of_alternatives[i, : len(target)])
            for i, target in enumerate(targets)
        ]

    def _full_pass(self, source, decoder_input, target):
        seen = self.network.full_pass(source, decoder_input)._asdict()
        log_probabilities = tf.nn.log_softmax(seen.pop("logits"))
        best, ids = tf.math.top_k(log_probabilities, ALTERNATIVES)  # (B, T, V) -> two of (B, T, A)
        chosen = {"log_probabilities": _of(target, log_probabilities)}
        return {**seen, **chosen, "alternative_ids": ids, "alternative_probabilities": tf.exp(best)}

    def _weigh(self, source, decoder_input, *chosen):
        log_probabilities = tf.nn.log_softmax(self.network((source, decoder_input), training=False))
        return tuple(_of(ids, log_probabilities) for ids in chosen)

    def _decode(self, source):
        positions = longest_target(tf.shape(source)[1])
        step, cache = self.network.start(source, positions)
        return greedy(step, cache, tf.shape(source)[0], positions)


def _of(ids, log_probabilities):
    """(B, T), (B, T, V) -> (B, T): those of the ids; -inf of ids that the network cannot produce."""
    vocab_size = tf.shape(log_probabilities)[-1]
    known = tf.gather(log_probabilities, tf.minimum(ids, vocab_size - 1), batch_dims=2)
    return tf.where(ids < vocab_size, known, -np.inf)


def _decoder_input(target: Sequence[int]) -> list[int]:
    return [START_ID, *target[:-1]]
