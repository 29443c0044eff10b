"""The encoder and the decoder of a network as compiled functions, whose results become NumPy arrays.

B batch, S source, T target, L layers, H heads, V vocabulary.
"""

from collections.abc import Callable, Sequence
from itertools import count
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from model.activations.drafting import Pass
from model.text.tokenizer import START_ID, pad

IDS = tf.TensorSpec((None, None), tf.int32)
# Calls of each function of the laboratory before its graph is made, which takes as long as five to ten calls.
CALLS_OP_BY_OP = 8


class Halves(NamedTuple):
    """``encode``: (B, S) ids -> memory, attention by kind. ``decode``: (B, T) decoder input ids, memory ->
    logits (B, T, V), attention by kind."""

    encode: Callable
    decode: Callable


def compile_halves(network: keras.Model, jit_compile: bool = False) -> Halves:
    """One graph for all shapes; with ``jit_compile`` XLA makes a program of it for each shape it meets."""
    options = {"autograph": False, "jit_compile": jit_compile}
    encode = tf.function(network.encode, input_signature=[IDS], **options)
    memory, _ = encode.get_concrete_function().structured_outputs
    memory = tf.nest.map_structure(lambda array: tf.TensorSpec(array.shape, array.dtype), memory)
    return Halves(encode, tf.function(network.decode, input_signature=[IDS, memory], **options))


class LateGraphs:
    """Functions of tensors whose first calls are computed without a graph and later ones with one.

    Making a graph takes as long as five to ten calls, too long for somebody who asks once. Once ``at_once`` is True, a
    function that has no graph yet makes it at its next call.
    """

    def __init__(self):
        self.at_once = False

    def function(self, function: Callable, signature: list) -> Callable:
        """``function`` of nested arrays or tensors as ``signature`` says, a list of nested tf.TensorSpec. What is None in
        the signature is None in each call."""
        leaves = tf.nest.flatten(signature)
        specs = [spec for spec in leaves if spec is not None]

        def of_leaves(*tensors):
            left = iter(tensors)
            filled = [None if spec is None else next(left) for spec in leaves]
            return function(*tf.nest.pack_sequence_as(signature, filled))

        graph = tf.function(of_leaves, input_signature=specs, autograph=False)
        calls = count(1)

        def call(*arrays):
            found = [array for array in tf.nest.flatten(list(arrays)) if array is not None]
            if self.at_once or next(calls) > CALLS_OP_BY_OP:
                return graph(*found)
            return of_leaves(
                *(tf.convert_to_tensor(array, spec.dtype) for spec, array in zip(specs, found, strict=True))
            )

        return call


class KerasReading:
    """Some sources, encoded once, for all passes over drafts of their corrections."""

    def __init__(self, halves: Halves, sources: Sequence[Sequence[int]]):
        self.halves = halves
        self.memory, self.attention = halves.encode(pad(sources))  # tensors, as the halves give them

    def pass_over(self, drafts: Sequence[Sequence[int]]) -> Pass:
        ids = pad([[START_ID, *draft[:-1]] for draft in drafts])
        logits, attention = self.halves.decode(ids, self.memory)
        found = {**self.attention, **attention}
        return Pass(np.asarray(logits), {kind: np.asarray(weights) for kind, weights in found.items()})

    def keep(self, rows: Sequence[int]) -> None:
        """Continue with these rows only."""
        self.memory, self.attention = tf.nest.map_structure(
            lambda array: tf.gather(array, rows), (self.memory, self.attention)
        )
