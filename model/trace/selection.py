"""Which weights of a trace are looked at: one kind of attention, a layer or their mean, a head or their mean."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from model.trace.trace import AttentionTrace

LayerHead = tuple[int, int]  # one head of a kind, both from 0
LayerHeads = tuple[int | None, int | None]  # None: the mean over all


@dataclass(frozen=True)
class Selection:
    """One map of a trace. ``layer`` and ``head`` count from 0; None is the mean over them."""

    kind: str
    layer: int | None = None
    head: int | None = None

    def weights(self, trace: AttentionTrace, kind: str | None = None) -> np.ndarray:
        """(Q, K) float32. ``kind``: another kind of attention; if it has fewer layers or heads, its last one is taken.

        Raises ValueError for a kind that the trace lacks.
        """
        return self.mean(trace.attention(kind or self.kind))

    def mean(self, maps: np.ndarray) -> np.ndarray:
        """(L, H, …) -> (…): one head, or the mean over those chosen. Of fewer layers or heads the last one is taken."""
        if self.layer is not None:
            maps = maps[: self.layer + 1][-1:]
        if self.head is not None:
            maps = maps[:, : self.head + 1][:, -1:]
        return maps[0, 0] if maps.shape[:2] == (1, 1) else maps.mean(axis=(0, 1), dtype=np.float32)

    def heads(self, trace: AttentionTrace) -> list[LayerHead]:
        """Every (layer, head) that the map is a mean of; the one head itself where it is none."""
        all_layers, all_heads = map(range, trace.shape(self.kind))
        layers = all_layers if self.layer is None else (self.layer,)
        heads = all_heads if self.head is None else (self.head,)
        return [(layer, head) for layer in layers for head in heads]

    def label(self, say: Callable[..., str], trace: AttentionTrace) -> str:
        """The words for layer and head, from the texts ``place_…`` of ``say``."""
        if trace.shape(self.kind) == (1, 1):
            return say("place_only")
        if self.layer is None:
            return say("place_all") if self.head is None else say("place_mean_layers", head=self.head + 1)
        if self.head is None:
            return say("place_mean", layer=self.layer + 1)
        return say("place_head", layer=self.layer + 1, head=self.head + 1)
