"""The rows of a batch of patched passes, and what their patches replace.

Q positions.
"""

from collections.abc import Sequence

import numpy as np

from model.trace.patches import EVERYWHERE, Patch, Patches
from model.trace.taps import tap


class PatchRows:
    """The rows of a batch. All have the patches of ``base``; row 0 has no others. The others have those of a variation, too, and are
    sorted by the layer in which they join."""

    def __init__(self, base: Patches, variations: Sequence[Patches], layers: Sequence[int]):
        self._layers = np.array(layers, int)
        self._length: int | None = None  # how many positions there are, if arrays hold only the last one
        self._base: dict[tuple, Patch] = {(each.tap, each.place): each for each in base}
        self._patches: dict[tuple, list[tuple[int, Patch]]] = {}
        for row, patches in enumerate(variations, start=1):
            for each in patches:
                self._patches.setdefault((each.tap, each.place), []).append((row, each))

    def joined(self, layer: int) -> int:
        """How many rows the batch has in this layer."""
        return 1 + int((self._layers <= layer).sum())

    def narrow(self, length: int) -> None:
        """From now on arrays hold the last of ``length`` positions alone."""
        self._length = length

    def put(self, name: str, place: int | tuple[int, int], array: np.ndarray) -> None:
        """Write the patches of this tap and place into ``array`` (rows, Q, ...)."""
        if (base := self._base.get((name, place))) is not None:
            self._replace(array, slice(None), base)
        for row, patch in self._patches.get((name, place), ()):
            if row < len(array):
                self._replace(array, row, patch)

    def patches_heads(self, kind: str, layer: int) -> bool:
        """Whether a patch replaces what a head of this layer finds."""
        places = (*self._base, *self._patches)
        return any(name == tap(kind, "heads") and place[0] == layer for name, place in places)

    def _replace(self, array: np.ndarray, row: int | slice, patch: Patch) -> None:
        if self._length is None:
            array[row, patch.positions] = patch.value
            return
        at = np.arange(self._length)[patch.positions]
        if at.size and np.max(at) == self._length - 1:
            values = np.broadcast_to(patch.value, (at.size, *array.shape[2:]))
            array[row, -1] = values[int(np.argmax(at))]

    def free(self, name: str, place: int, count: int) -> np.ndarray:
        """Which of ``count`` rows have to be computed, because no patch covers all their positions."""
        covered = np.zeros(count, bool)
        if (base := self._base.get((name, place))) is not None and base.positions == EVERYWHERE:
            covered[:] = True
        for row, patch in self._patches.get((name, place), ()):
            covered[row] |= patch.positions == EVERYWHERE
        return np.flatnonzero(~covered)
