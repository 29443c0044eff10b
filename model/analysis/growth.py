"""When a head found its role: how much of its attention goes where a plain copy would look, at each snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from model.analysis.roles import rows_of

if TYPE_CHECKING:
    from model.trace import AttentionTrace

FOUND = 0.5  # of its attention


def copying_shares(
    kind: str, sources: Sequence[str], texts: Sequence[str], traces: Sequence[AttentionTrace]
) -> np.ndarray:
    """(N, L, H) float32 in 0..1: the mean weight of each head at ``roles.Rows.own``, over the rows without the end
    mark, in N traces of writing ``texts`` for ``sources``. 0 where there is no row."""
    found = []
    for source, text, trace in zip(sources, texts, traces, strict=True):
        weights, own = trace.attention(kind), rows_of(kind, source, text).own
        at_own = weights[:, :, np.arange(len(own)), own]  # (L, H, Q - 1)
        found.append(at_own.mean(axis=-1) if len(own) else np.zeros(weights.shape[:2]))
    return np.array(found, np.float32)


def found_at(shares: np.ndarray) -> int | None:
    """The first of N snapshots from which on a head gives more than FOUND of its attention there, to the last one;
    None where it does not in the end. ``shares``: (N,)."""
    below = np.flatnonzero(np.asarray(shares) <= FOUND)
    first = int(below[-1]) + 1 if len(below) else 0
    return first if first < len(shares) else None
