"""A Transformer in NumPy whose passes take patches: what a head, a sub-layer or the residual stream holds is replaced.

A pass is computed for one sentence and N sets of patches at once. Each set is a row of a batch. Row 0 is the pass without any of these
sets. Up to the layer of its first patch a row equals row 0, so it joins the batch only there. In the last layer only the last position
is computed, because a question is about one written character.

N variations (sets of patches), S source and T target tokens, L layers, H heads, Q query and K key positions, D d_model, V vocabulary.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from model.plain.nearby import Units
from model.plain.parts import PlainParts, kind_side
from model.plain.patch_rows import PatchRows
from model.plain.patched_rows import PatchedRows
from model.plain.walk import walk
from model.stored.config import NetworkConfig
from model.trace.patches import ATTENTIONS, SUBLAYERS, Node, Patch, Patches
from model.trace.taps import Found, tap

THREADS = 2  # batches at once
BATCH = 96  # rows computed together


class Answered(NamedTuple):
    """What N patched passes say at their last position."""

    logits: np.ndarray  # (N, V)
    looks: np.ndarray | None  # (N, Q, K) weights of the head that was asked about

    def score(self, written: int, instead: int) -> np.ndarray:
        """(N,) float64: log p(written) - log p(instead), in nats."""
        return self.logits[:, written].astype(np.float64) - self.logits[:, instead]


class PatchedTransformer(PlainParts):
    """``passes`` under patches, and the ``taps`` of one. Safe to call from threads."""

    def __init__(self, config: NetworkConfig, features: np.ndarray, arrays: Mapping[str, np.ndarray]):
        super().__init__(config, features, arrays)
        self._units: dict[tuple[str, int], Units | None] = {}

    def passes(
        self,
        source: Sequence[int],
        target: Sequence[int],
        variations: Sequence[Patches],
        base: Patches = (),
        look: Node | None = None,
    ) -> Answered:
        """The logits at the last position of ``target`` under each of N ``variations``. All of these have the patches of ``base``, too.

        ``look``: a head whose weights are handed out.
        """
        sides = {side: self.layers(side) for side in ATTENTIONS}
        per_layer = [_first_layer(each, sides) for each in variations]
        order = sorted(range(len(variations)), key=per_layer.__getitem__)
        logits = np.empty((len(variations), self.config.vocab_size), np.float32)
        looks: dict[int, np.ndarray] = {}

        def answer(chosen: Sequence[int]) -> None:
            rows = PatchRows(base, [variations[i] for i in chosen], [per_layer[i] for i in chosen])
            found = Found([look.kind] if look else [])
            ends = self._states(source, target, rows, found, last_alone=look is None)
            logits[chosen] = self.logits(ends[1:, -1])
            if look:
                weights = found.layers(look.kind)[look.layer][:, look.head]  # (rows, Q, K)
                for number, i in enumerate(chosen, start=1):  # later ones have row 0's
                    looks[i] = weights[number if number < len(weights) else 0]

        with ThreadPoolExecutor(THREADS) as threads:  # NumPy releases the interpreter lock while it computes
            list(threads.map(answer, [order[cut : cut + BATCH] for cut in range(0, len(order), BATCH)]))
        return Answered(logits, np.stack([looks[i] for i in range(len(order))]) if looks else None)

    def taps(
        self, source: Sequence[int], target: Sequence[int], names: Iterable[str], patches: Patches = ()
    ) -> dict[str, np.ndarray]:
        """The arrays ``names`` of one pass; ``model.trace.taps`` has their shapes, here without B."""
        found = Found(names)
        found.put("logits", self.logits(self._states(source, target, PatchRows(patches, [], []), found)))
        return {name: array[0] for name, array in found.stacked(np.stack).items()}

    def _states(
        self,
        source: Sequence[int],
        target: Sequence[int],
        rows: PatchRows,
        found: Found,
        last_alone: bool = False,
    ) -> np.ndarray:
        """(rows, T, D): the end of the decoder's stream after ``close``; (rows, 1, D) with ``last_alone``."""
        memory = self._side("encoder", source, rows, found)  # (rows, S, D)
        found.put("memory", memory)
        return self._side("decoder", [self.start, *target[:-1]], rows, found, memory, last_alone)

    def _side(
        self,
        side: str,
        ids: Sequence[int],
        rows: PatchRows,
        found: Found,
        memory: np.ndarray | None = None,
        last_alone: bool = False,
    ) -> np.ndarray:
        """The end of a side's residual stream after ``close``: ids (Q,) -> (rows, Q, D)."""
        x = self.stream_start(ids, side)[None]
        found.put(tap(side, "embedding"), x - self.positions(len(ids), side))
        through = PatchedRows(self, side, rows, self._units_of, memory, last_alone)
        return self.close(side, walk(self, side, through.begin(x), through, found))

    def _units_of(self, side: str, layer: int) -> Units | None:
        if (side, layer) not in self._units:
            self._units[side, layer] = self.units(side, layer)
        return self._units[side, layer]


def _first_layer(patches: Patches, layers: Mapping[str, int]) -> int:
    """The layer in which a pass first differs; decoder layers count after those of the encoder. ``layers``: how many each side has."""
    return min((_layer(each, layers) for each in patches), default=sum(layers.values()) - 1)


def _layer(patch: Patch, layers: Mapping[str, int]) -> int:
    side = kind_side(patch.tap)
    if isinstance(patch.place, tuple):
        layer = patch.place[0]
    else:  # behind the last sub-layer of a side lies one more place of the stream
        layer = min(patch.place // len(SUBLAYERS[side]), layers[side] - 1)
    return layer + layers["encoder"] * (side == "decoder")
