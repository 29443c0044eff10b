"""Scaled dot-product attention one step at a time, in NumPy (Vaswani et al. 2017, section 3.2.1)."""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class DotProduct:
    """Every intermediate result of ``softmax(query · keyᵀ / sqrt(d)) · value``, as float64.

    Q queries and K keys of width d, values of width v. ``output`` and ``weights`` are what
    ``model.network.layers.scaled_dot_product_attention`` gives for the same arrays and mask.
    """

    query: np.ndarray  # (Q, d)
    key: np.ndarray  # (K, d)
    value: np.ndarray  # (K, v)
    products: np.ndarray  # (Q, K) query · keyᵀ
    scaled: np.ndarray  # (Q, K) products / sqrt(d); where scaling is left out, the products
    logits: np.ndarray  # (Q, K) scaled, and -inf where the mask forbids looking
    weights: np.ndarray  # (Q, K) softmax of each row; a row with nothing to look at is all 0
    output: np.ndarray  # (Q, v) weights · value

    def weighted_values(self, row: int) -> np.ndarray:
        """(K, v): each value times the weight that query ``row`` gives it; their sum is ``output[row]``."""
        return self.weights[row][:, None] * self.value


def dot_product_attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    mask: np.ndarray | None = None,
    *,
    scaling: bool = True,
) -> DotProduct:
    """All steps of one attention.

    Args:
        query: (Q, d); key: (K, d); value: (K, v).
        mask: (Q, K) bool, True where a query may look, as in ``model.network.layers``; None lets all look at all.
        scaling: whether products are divided by sqrt(d); without it, see what the division is good for.

    Raises ValueError for shapes that do not fit each other.

    >>> dot_product_attention(np.eye(2), np.eye(2), np.eye(2)).weights.round(2).tolist()
    [[0.67, 0.33], [0.33, 0.67]]
    """
    query, key, value = (np.asarray(array, dtype=np.float64) for array in (query, key, value))
    _check(query, key, value, mask)
    products = query @ key.T  # (Q, d), (d, K) -> (Q, K)
    scaled = products / math.sqrt(max(key.shape[1], 1)) if scaling else products
    logits = scaled if mask is None else np.where(mask, scaled, -np.inf)
    weights = softmax(logits)
    return DotProduct(query, key, value, products, scaled, logits, weights, weights @ value)


def softmax(logits: np.ndarray) -> np.ndarray:
    """(..., K) -> (..., K), each row summing to 1, exactly 0 at -inf; all 0 where a row is nothing but -inf."""
    highest = logits.max(axis=-1, keepdims=True, initial=-np.inf)
    # Subtracting the highest changes no share and keeps exp from overflowing.
    exponentials = np.exp(logits - np.where(np.isfinite(highest), highest, 0.0))
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total > 0, total, 1.0)


def _check(query: np.ndarray, key: np.ndarray, value: np.ndarray, mask: np.ndarray | None) -> None:
    for name, array in (("query", query), ("key", key), ("value", value)):
        if array.ndim != 2:
            raise ValueError(f"{name} should have the shape (rows, width), received {array.shape}")
    if query.shape[1] != key.shape[1]:
        raise ValueError(f"query and key should be equally wide, received {query.shape} and {key.shape}")
    if len(key) != len(value):
        raise ValueError(f"each key needs a value, received keys {key.shape} and values {value.shape}")
    if mask is not None and np.shape(mask) != (len(query), len(key)):
        raise ValueError(f"mask should have the shape {(len(query), len(key))}, received {np.shape(mask)}")
