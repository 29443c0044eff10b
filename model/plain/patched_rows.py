"""``PatchedRows``: how the rows of a batch of patched passes go through one side of a network.

Most rows equal row 0 nearly everywhere, so of the others only what differs is computed.

S source tokens, Q query positions, D d_model.
"""

from collections.abc import Callable

import numpy as np

from model.plain.nearby import Units
from model.plain.parts import FEW, PlainParts, unlike_first
from model.plain.patch_rows import PatchRows
from model.trace.patches import FEED_FORWARDS, Node
from model.trace.taps import Found, tap


class PatchedRows:
    """The rows as ``walk.WalkedRows`` wants them.

    ``units``: of a side and layer, see ``PlainParts.units``. ``memory``: (rows, S, D), on the decoder's side. ``last_alone``: the last
    layer computes only its last position, because nothing reads the others.
    """

    def __init__(
        self,
        parts: PlainParts,
        side: str,
        rows: PatchRows,
        units: Callable[[str, int], Units | None],
        memory: np.ndarray | None = None,
        last_alone: bool = False,
    ):
        self._parts, self._side, self._rows, self._units = parts, side, rows, units
        self._memory, self._last_alone = memory, last_alone
        self._before = parts.layers("encoder") if side == "decoder" else 0  # layers that lie before this side
        self.put = rows.put

    def begin(self, x: np.ndarray) -> np.ndarray:
        """The start of the stream (1, Q, D) for each row that differs before this side."""
        return np.repeat(x, self._rows.joined(self._before - 1) if self._before else 1, axis=0)

    def join(self, layer: int, x: np.ndarray) -> np.ndarray:
        """A row that joins equals row 0 up to here."""
        return np.concatenate([x, np.repeat(x[:1], self._rows.joined(layer + self._before) - len(x), axis=0)])

    def go_on(self, layer: int, x: np.ndarray) -> np.ndarray:
        """All positions, or in the last layer perhaps the last one alone."""
        if not self._last_alone or layer < self._parts.layers(self._side) - 1 or x.shape[1] == 1:
            return x
        self._rows.narrow(x.shape[1])
        return x[:, -1:]

    def attend(
        self, kind: str, layer: int, asking: np.ndarray, entered: np.ndarray, found: Found
    ) -> np.ndarray:
        """A row that asks and reads the same as row 0 is not computed again. Rows that join in the decoder read the memory of row 0."""
        read = self._memory if kind == "cross_attention" and self._memory is not None else entered
        differs = np.logical_or.reduce(unlike_first(asking), axis=1)
        differs[: len(read)] |= np.logical_or.reduce(unlike_first(read), axis=1)
        differs[0] = True
        chosen = np.flatnonzero(differs)
        like = np.where(differs, np.cumsum(differs) - 1, 0)  # for each row the one that was computed
        asked, seen = asking, read
        if len(chosen) < len(asking) or len(read) < len(asking):  # else all differ, and no copies are made
            asked, seen = asking[chosen], read[np.where(chosen < len(read), chosen, 0)]
        if asking.shape[1] == 1 and not found.names and not self._parts.scores_hold_positions:
            heads = self._parts.found_by_one(kind, layer, asked, seen)
        else:
            query, key, value = self._parts.projected(kind, layer, asked, seen)
            weights = self._parts.weights(kind, query, key)
            heads = weights @ value
        if not found.names and not self._rows.patches_heads(kind, layer):
            output = self._parts.join(kind, layer, heads)
            return output[like] if len(output) < len(like) else output
        heads = heads[like]
        for head in range(heads.shape[1]):
            self._rows.put(tap(kind, "heads"), (layer, head), heads[:, head])
        if found.names:
            found.add(kind, attention=weights[like], query=query, key=key, value=value, heads=heads)
        return self._joined_anew(kind, layer, heads)

    def _joined_anew(self, kind: str, layer: int, heads: np.ndarray) -> np.ndarray:
        """(rows, Q, D): ``join``, computed anew only where a row's heads (rows, H, Q, D/H) differ from those of row 0."""
        new = (heads != heads[:1]).any(axis=(1, 3))
        if new.mean() > FEW:
            return self._parts.join(kind, layer, heads)
        output = np.repeat(self._parts.join(kind, layer, heads[:1]), len(heads), axis=0)
        if new.any():
            some = heads.transpose(0, 2, 1, 3)[new]  # (positions, H, D/H)
            output[new] = self._parts.join(kind, layer, some.transpose(1, 0, 2)[None])[0]
        return output

    def feed_forward(self, layer: int, entered: np.ndarray) -> np.ndarray:
        """Zeros in rows that a patch covers."""
        node = Node(FEED_FORWARDS[self._side], layer)
        free = self._rows.free(node.tap, node.sublayer, len(entered))
        if len(free) == len(entered):
            return self._fed_forward(layer, entered)
        output = np.zeros_like(entered)
        output[free] = self._fed_forward(layer, entered[free])
        return output

    def _fed_forward(self, layer: int, entered: np.ndarray) -> np.ndarray:
        """(rows, Q, D), computed anew only where a row's input differs from that of row 0."""
        side, new = self._side, unlike_first(entered)
        output = np.repeat(self._parts.feed_forward(side, layer, entered[:1]), len(entered), axis=0)
        if (units := self._units(side, layer)) is None:
            output[new] = self._parts.feed_forward(side, layer, entered[new])
            return output
        changed = np.flatnonzero(new.any(axis=0))
        if not changed.size:
            return output
        for position, units_entered in zip(changed, units.entered(entered[0, changed]), strict=True):
            rows = np.flatnonzero(new[:, position])
            output[rows, position] = units.near(entered[0, position], units_entered, entered[rows, position])
        return output
