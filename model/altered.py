"""Passes whose attention is changed by an argument: the halves of a network, and readings of drafts.

B rows, each a source and an intervention, L layers, H heads, S source and T target tokens, V vocabulary.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from threading import Lock
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from model.attention import Altered
from model.interventions import SEPARATOR, Intervention, alterations
from model.passes import IDS, LateGraphs, Pass
from model.tokenizer import PAD_ID, START_ID, pad

KEPT = "kept"  # the name of the array with what embeddings are multiplied by
_RANKS = {"seen": 3, "replaced": 4, "weights": 5, "values": 3, "gates": 3, "added": 4}
_BOOL = ("seen", "replaced")


class AlteredHalves:
    """The halves of a network whose passes take an intervention; one graph for each set of its arrays."""

    def __init__(self, network: keras.Model, late: LateGraphs):
        self._network, self._late, self._lock = network, late, Lock()
        self._graphs: dict[tuple[str, frozenset[str]], Callable] = {}

    def encode(self, ids: np.ndarray, arrays: dict[str, np.ndarray]):
        """(B, S) ids -> memory, attention by kind."""
        return self._graph("encode", frozenset(arrays))(ids, arrays)

    def decode(self, ids: np.ndarray, memory, arrays: dict[str, np.ndarray]):
        """(B, T) decoder input ids, memory -> logits (B, T, V), attention by kind."""
        return self._graph("decode", frozenset(arrays))(ids, memory, arrays)

    def _graph(self, half: str, names: frozenset[str]):
        with self._lock:
            if (half, names) not in self._graphs:
                trace = {"encode": self._trace_encode, "decode": self._trace_decode}[half]
                self._graphs[half, names] = trace(names)
            return self._graphs[half, names]

    def _trace_encode(self, names: frozenset[str]):
        def run(ids, arrays):
            return self._network.encode(ids, altered=_altered(arrays), kept=arrays.get(KEPT))

        return self._late.function(run, [IDS, _specs(names)])

    def _trace_decode(self, names: frozenset[str]):
        def run(ids, memory, arrays):
            return self._network.decode(ids, memory, altered=_altered(arrays), kept=arrays.get(KEPT))

        return self._late.function(run, [IDS, self._memory, _specs(names)])

    @cached_property
    def _memory(self):
        """The specification of a memory."""
        graph = tf.function(self._network.encode, input_signature=[IDS], autograph=False)
        memory, _ = graph.get_concrete_function().structured_outputs
        return tf.nest.map_structure(lambda array: tf.TensorSpec(array.shape, array.dtype), memory)


def _specs(names: frozenset[str]) -> dict[str, tf.TensorSpec]:
    specs = {}
    for name in names:
        part = name.rpartition(SEPARATOR)[2]
        rank = 2 if name == KEPT else _RANKS[part]
        specs[name] = tf.TensorSpec([None] * rank, tf.bool if part in _BOOL else tf.float32, name=None)
    return specs


def _altered(arrays: dict) -> dict[str, Altered]:
    found: dict[str, dict] = {}
    for name, array in arrays.items():
        kind, _, part = name.rpartition(SEPARATOR)
        if kind:
            found.setdefault(kind, {})[part] = array
    return {kind: Altered(**parts) for kind, parts in found.items()}


class AlteredReading:
    """Sources and an intervention for each, encoded once, for all passes over drafts of their corrections.

    What ``drafting.settle`` wants of a reading. A source that several rows share is encoded once for all whose
    intervention does not reach the encoder.
    """

    memory: Any  # tensors, as the halves give them
    attention: dict[str, Any]

    def __init__(self, halves: AlteredHalves, config, sources, interventions: Sequence[Intervention]):
        self.halves, self.config = halves, config
        self.sources, self.interventions = list(sources), list(interventions)
        self._encode()

    def look(self, drafts: Sequence[Sequence[int]]) -> Pass:
        ids = pad([[START_ID, *draft[:-1]] for draft in drafts])
        sizes = {"decoder_attention": (ids.shape[1],) * 2, "cross_attention": (ids.shape[1], self.length)}
        arrays = self._arrays(self.interventions, sizes)
        if any(each.without_target for each in self.interventions):
            arrays[KEPT] = _kept(self.interventions, ids.shape[1])
        logits, attention = self.halves.decode(ids, self.memory, arrays)
        found = {**self.attention, **attention}
        return Pass(np.asarray(logits), {kind: np.asarray(weights) for kind, weights in found.items()})

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these rows alone."""
        self.sources = [self.sources[row] for row in rows]
        self.interventions = [self.interventions[row] for row in rows]
        self._gather(rows)

    def _gather(self, rows: Sequence[int]) -> None:
        self.memory, self.attention = tf.nest.map_structure(
            lambda array: tf.gather(array, rows), (self.memory, self.attention)
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
        arrays = self._arrays(interventions, {"encoder_attention": (self.length,) * 2})
        self.memory, self.attention = self.halves.encode(ids, arrays)
        if rows != list(range(len(chosen))):
            self._gather(rows)

    def _arrays(self, interventions, sizes) -> dict[str, np.ndarray]:
        kinds = [kind for kind in sizes if kind in self.config.attention_kinds]
        return alterations(interventions, self.config, kinds, sizes)


def _kept(interventions: Sequence[Intervention], length: int) -> np.ndarray:
    kept = np.ones((len(interventions), length), np.float32)  # (B, T)
    for row, each in enumerate(interventions):
        kept[row, [position for position in each.without_target if position < length]] = 0
    return kept
