"""Passes under interventions: encoder and decoder take an argument that changes their attention.

B rows, each a source and an intervention, L layers, H heads, S source and T target tokens, V vocabulary.
"""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from model.network.passes import LateGraphs, Pass
from model.plain.alterations import Altered, alterations
from model.text.tokenizer import PAD_ID, START_ID, pad
from model.trace.interventions import Intervention
from model.trace.trace import ATTENTION_KINDS


class AlteredHalves:
    """The halves of a network whose passes take an intervention and hand out taps; one graph for each set of taps and
    of arrays that an intervention needs."""

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


class AlteredReading:
    """Sources with an intervention each, encoded once, for all passes over drafts of their corrections.

    It is the reading that ``drafting.settle`` wants. Rows with the same source whose intervention does not reach the encoder share
    one encoding.
    """

    memory: Any  # tensors, as the halves give them
    read: dict[str, Any]

    def __init__(
        self,
        halves: AlteredHalves,
        config,
        sources,
        interventions: Sequence[Intervention],
        taps: tuple[str, ...] = ATTENTION_KINDS,
    ):
        self.halves, self.config, self.taps = halves, config, taps
        self.sources, self.interventions = list(sources), list(interventions)
        self._encode()

    def pass_over(self, drafts: Sequence[Sequence[int]]) -> Pass:
        """The logits, and in place of attention all ``taps``."""
        ids = pad([[START_ID, *draft[:-1]] for draft in drafts])
        sizes = {"decoder_attention": (ids.shape[1],) * 2, "cross_attention": (ids.shape[1], self.length)}
        altered = alterations(self.interventions, self.config, sizes)
        logits, written = self.halves.decode(ids, self.memory, altered, self.taps)
        found = {**self.read, **written}
        return Pass(np.asarray(logits), {name: np.asarray(array) for name, array in found.items()})

    def keep(self, rows: Sequence[int]) -> None:
        """Continue with these rows only."""
        self.sources = [self.sources[row] for row in rows]
        self.interventions = [self.interventions[row] for row in rows]
        self._gather(rows)

    def _gather(self, rows: Sequence[int]) -> None:
        self.memory, self.read = tf.nest.map_structure(
            lambda array: tf.gather(array, rows), (self.memory, self.read)
        )

    def _encode(self) -> None:
        first: dict[tuple, int] = {}  # the place of each different encoding among those that are made
        rows: list[int] = []
        chosen: list[int] = []
        for row, (source, each) in enumerate(zip(self.sources, self.interventions, strict=True)):
            key = (tuple(source), id(each) if each.reaches_encoder else None)
            if key not in first:
                first[key] = len(chosen)
                chosen.append(row)
            rows.append(first[key])
        ids = pad(self.sources)[chosen]
        self.length = ids.shape[1]
        interventions = [self.interventions[row] for row in chosen]
        for place, each in enumerate(interventions):
            ids[place, list(each.without_source)] = PAD_ID
        altered = alterations(interventions, self.config, {"encoder_attention": (self.length,) * 2})
        self.memory, self.read = self.halves.encode(ids, altered, self.taps)
        if rows != list(range(len(chosen))):
            self._gather(rows)
