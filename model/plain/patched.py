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
from model.plain.parts import FEW, PlainParts, kind_side, unlike_first
from model.plain.patch_rows import PatchRows
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

    def _states(self, source, target, rows: PatchRows, found: Found, last_alone: bool = False) -> np.ndarray:
        """(rows, T, D): the end of the decoder's stream after ``close``; (rows, 1, D) with ``last_alone``."""
        memory = self._walk("encoder", source, rows, found)  # (rows, S, D)
        found.put("memory", memory)
        return self._walk("decoder", [self.start, *target[:-1]], rows, found, memory, last_alone)

    def _walk(
        self,
        side: str,
        ids,
        rows: PatchRows,
        found: Found,
        memory: np.ndarray | None = None,
        last_alone: bool = False,
    ) -> np.ndarray:
        """The end of a side's residual stream after ``close``: ids (Q,) -> (rows, Q, D).

        ``last_alone``: the last layer computes only its last position, because nothing reads the others.
        """
        x = self.stream_start(ids, side)[None]
        found.put(tap(side, "embedding"), x - self.positions(len(ids), side))
        before = self.layers("encoder") if side == "decoder" else 0  # layers that lie before this side
        x = np.repeat(x, rows.joined(before - 1) if before else 1, axis=0)
        number = 0
        for layer in range(self.layers(side)):
            count = rows.joined(layer + before)
            x = np.concatenate([x, np.repeat(x[:1], count - len(x), axis=0)])
            rows.put(tap(side, "residual"), number, x)  # the patches of rows that have just joined
            if number == 0:
                found.add(side, residual=x)
            if last := last_alone and layer == self.layers(side) - 1:
                rows.narrow(len(ids))
            for kind in SUBLAYERS[side]:
                entered = self.enter(kind, layer, x)
                x = x[:, -1:] if last else x
                if kind in ATTENTIONS[side]:
                    read = memory if kind == "cross_attention" else entered
                    output = self._attend(kind, layer, entered[:, -x.shape[1] :], read, rows, found)
                else:
                    free = rows.free(tap(side, "output"), number, count)
                    output = np.zeros_like(x)
                    output[free] = self._fed_forward(side, layer, entered[free])
                rows.put(tap(side, "output"), number, output)
                x = self.leave(kind, layer, x + output)
                number += 1
                rows.put(tap(side, "residual"), number, x)
                found.add(side, output=output, residual=x)
        return self.close(side, x)

    def _attend(self, kind: str, layer: int, asking, read, rows: PatchRows, found: Found):
        # Rows that ask and read what row 0 does find what it finds; those that joined in the decoder read its memory.
        differs = np.logical_or.reduce(unlike_first(asking), axis=1)
        differs[: len(read)] |= np.logical_or.reduce(unlike_first(read), axis=1)
        differs[0] = True
        chosen = np.flatnonzero(differs)
        query, key, value = self.projected(
            kind, layer, asking[chosen], read[np.where(chosen < len(read), chosen, 0)]
        )
        weights = self.look(kind, query, key)
        like = np.where(differs, np.cumsum(differs) - 1, 0)  # for each row the one that was computed
        heads = weights @ value
        if not found.names and not rows.patches_heads(kind, layer):
            return self.join(kind, layer, heads)[like]
        heads = heads[like]
        for head in range(heads.shape[1]):
            rows.put(tap(kind, "heads"), (layer, head), heads[:, head])
        if found.names:
            found.add(kind, attention=weights[like], query=query, key=key, value=value, heads=heads)
        return self._joined_anew(kind, layer, heads)

    def _joined_anew(self, kind: str, layer: int, heads: np.ndarray) -> np.ndarray:
        """(rows, Q, D): ``join``, computed anew only where a row's heads (rows, H, Q, D/H) differ from those of row 0."""
        new = (heads != heads[:1]).any(axis=(1, 3))
        if new.mean() > FEW:
            return self.join(kind, layer, heads)
        output = np.repeat(self.join(kind, layer, heads[:1]), len(heads), axis=0)
        if new.any():
            some = heads.transpose(0, 2, 1, 3)[new]  # (positions, H, D/H)
            output[new] = self.join(kind, layer, some.transpose(1, 0, 2)[None])[0]
        return output

    def _fed_forward(self, side: str, layer: int, entered: np.ndarray) -> np.ndarray:
        """(rows, Q, D): ``feed_forward``, computed anew only where a row's input differs from that of row 0."""
        new = unlike_first(entered)
        output = np.repeat(self.feed_forward(side, layer, entered[:1]), len(entered), axis=0)
        if (units := self._units_of(side, layer)) is None:
            output[new] = self.feed_forward(side, layer, entered[new])
            return output
        changed = np.flatnonzero(new.any(axis=0))
        if not changed.size:
            return output
        for position, units_entered in zip(changed, units.entered(entered[0, changed]), strict=True):
            rows = np.flatnonzero(new[:, position])
            output[rows, position] = units.near(entered[0, position], units_entered, entered[rows, position])
        return output

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
