"""``walk``: the one way through a stack of layers in NumPy. It computes what ``model/network/walk.py`` computes in Keras.

Passes under interventions (``halves.py``) and passes under patches (``patched.py``) both take it. What differs between them is how
the rows of a batch attend, and whether something is written over what was computed. ``WalkedRows`` tells the walk that.

Q positions, K positions that are looked at, D d_model.
"""

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from model.plain.parts import PlainParts
from model.trace.patches import ATTENTIONS, SUBLAYERS
from model.trace.taps import Found, tap


class WalkedRows(Protocol):
    """The rows of a batch on one side of a network, on their way through its layers."""

    def join(self, layer: int, x: np.ndarray) -> np.ndarray:
        """The stream (rows, Q, D) before a layer. Rows that are computed only from this layer on are added to it."""
        ...

    def go_on(self, layer: int, x: np.ndarray) -> np.ndarray:
        """The positions (rows, Q, D) that are still computed, of the stream before a layer (rows, K, D)."""
        ...

    def attend(
        self, kind: str, layer: int, asking: np.ndarray, entered: np.ndarray, found: Found
    ) -> np.ndarray:
        """What one attention puts out (rows, Q, D). ``entered`` (rows, K, D) enters it, ``asking`` are its last Q positions."""
        ...

    def feed_forward(self, layer: int, entered: np.ndarray) -> np.ndarray:
        """What a feed-forward network puts out (rows, Q, D)."""
        ...

    def put(self, name: str, place: int, array: np.ndarray) -> None:
        """Replace values of ``array``, in place, where patches say so. It is the tap ``name`` at ``place``."""
        ...


def walk(
    parts: PlainParts,
    side: str,
    x: np.ndarray,
    rows: WalkedRows,
    found: Found,
    layers: Iterable[int] | None = None,
) -> np.ndarray:
    """Send the residual stream x (rows, Q, D) of a side through ``layers``, through all of them if None. ``found`` collects the taps."""
    kinds = SUBLAYERS[side]
    for layer in range(parts.layers(side)) if layers is None else layers:
        first = layer * len(kinds)
        x = rows.join(layer, x)
        rows.put(tap(side, "residual"), first, x)
        if first == 0:
            found.add(side, residual=x)
        for place, kind in enumerate(kinds, start=first):
            entered = parts.enter(kind, layer, x)
            x = rows.go_on(layer, x)
            if kind in ATTENTIONS[side]:
                output = rows.attend(kind, layer, entered[:, -x.shape[1] :], entered, found)
            else:
                output = rows.feed_forward(layer, entered)
            rows.put(tap(side, "output"), place, output)
            # If no tap keeps the output, the sum is written over it: new memory takes longer than the sum.
            x = parts.leave(kind, layer, x + output if found.names else np.add(x, output, out=output))
            rows.put(tap(side, "residual"), place + 1, x)
            found.add(side, output=output, residual=x)
    return x
