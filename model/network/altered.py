"""The halves of a Keras network, whose passes take an intervention. Each set of taps and of arrays that occurs gets a graph."""

from collections.abc import Callable, Sequence
from threading import Lock

import keras
import numpy as np
import tensorflow as tf

from model.activations.replacements import Altered
from model.network.passes import LateGraphs


class KerasHalves:
    """``encode`` and ``decode`` as ``model.activations.laboratory.AlteredHalves`` has them; what they hand out are tensors."""

    def __init__(self, network: keras.Model, late: LateGraphs):
        self._network, self._late, self._lock = network, late, Lock()
        self._graphs: dict[tuple, Callable] = {}

    def encode(self, ids: np.ndarray, altered: Altered, taps: tuple[str, ...]):
        """(B, S) ids -> memory, taps by name."""

        def run(ids, altered):
            return self._network.encode(ids, altered=altered, taps=taps)

        return self._run("encode", run, taps, [ids, altered])

    def decode(self, ids: np.ndarray, memory, altered: Altered, taps: tuple[str, ...]):
        """(B, T) decoder input ids, memory -> logits (B, T, V), taps by name."""

        def run(ids, memory, altered):
            return self._network.decode(ids, memory, altered=altered, taps=taps)

        return self._run("decode", run, taps, [ids, memory, altered])

    def chosen(self, arrays, rows: Sequence[int]):
        """These rows of nested tensors."""
        return tf.nest.map_structure(lambda array: tf.gather(array, rows), arrays)

    def _run(self, half: str, run, taps: tuple[str, ...], arguments: list):
        specs = tf.nest.map_structure(_spec, arguments)
        key = half, taps, *tf.nest.flatten(specs)
        with self._lock:
            if key not in self._graphs:
                self._graphs[key] = self._late.function(run, specs)
        return self._graphs[key](*arguments)


def _spec(array) -> tf.TensorSpec | None:
    """Any array of this rank and type."""
    return None if array is None else tf.TensorSpec([None] * len(array.shape), array.dtype)
