"""What one softmax of a network made, and inside which calls of layers.

H heads, Q query and K key positions.
"""

from typing import Any, NamedTuple

import numpy as np

# A score that lies so far below the largest of its row was masked; no query and key give such a score.
MASKED = 5e3


class LayerCall(NamedTuple):
    """A layer of a network that is being called."""

    number: int  # calls are counted
    layer: Any
    given: tuple[Any, ...]


class Maps(NamedTuple):
    """What one softmax made."""

    weights: np.ndarray  # (H, Q, K)
    masked: np.ndarray  # (H, Q, K) bool, True where a mask hides the key from the query
    path: tuple[LayerCall, ...] = ()  # the calls of layers inside which it was made, the whole network first

    @classmethod
    def of(cls, weights: np.ndarray, scores: np.ndarray | None, path: tuple[LayerCall, ...] = ()) -> "Maps":
        """Read the mask off the ``scores`` (H, Q, K) before the softmax; without them none is known."""
        if scores is None or scores.shape != weights.shape:
            return cls(weights, np.zeros(weights.shape, bool), path)
        largest = scores.max(axis=-1, keepdims=True)
        floor = np.where(np.isfinite(largest), largest, 0) - MASKED
        return cls(weights, (scores < floor) & (weights == 0), path)


def as_maps(weights: np.ndarray, axis: int) -> np.ndarray:
    """(H, Q, K) of what one softmax over ``axis`` made for a batch of one: (1, H, Q, K), (1, Q, K), (1, K), …

    >>> as_maps(np.ones((1, 7, 1)), axis=1).shape  # Bahdanau's scores of 7 source tokens
    (1, 1, 7)
    """
    moved = np.moveaxis(np.atleast_2d(weights), axis, -1)
    return moved.reshape(-1, *moved.shape[-2:]).astype(np.float32)
