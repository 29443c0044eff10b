"""What attention is computed from: queries, keys and values of every layer and head, as NumPy arrays."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Projections:
    """The projected queries, keys and values of one kind of attention (Vaswani et al. 2017, section 3.2.2).

    The weights of a trace are ``softmax(query · keyᵀ / sqrt(d))`` over the keys that the mask allows, with
    d = D/H. Shapes: L layers, H heads, Q query and K key positions. Raises ValueError for shapes that do not
    fit each other.
    """

    query: np.ndarray  # (L, H, Q, d) float32
    key: np.ndarray  # (L, H, K, d) float32
    value: np.ndarray  # (L, H, K, d) float32

    def __post_init__(self) -> None:
        layers, heads, _, depth = self.query.shape
        expected = (layers, heads, self.key.shape[2], depth)
        for name in ("key", "value"):
            received = getattr(self, name).shape
            if received != expected:
                raise ValueError(f"{name} should have the shape {expected}, received {received}")
