"""One number for each head: how widely it spreads its attention, and how far away it looks."""

import numpy as np


def entropy(weights: np.ndarray) -> np.ndarray:
    """(L, H) float32, in bits: how widely each head spreads its attention, averaged over its rows.

    0: every row looks at a single key; log2(K): every row looks at all K keys alike. A key without weight
    adds nothing, so masked ones do not count.

    Args:
        weights: (L, H, Q, K), rows that sum to 1.

    Source: Shannon, "A Mathematical Theory of Communication" (1948), section 6.
    Raises ValueError for weights of another rank.

    >>> entropy(np.array([[[[0.5, 0.5], [1.0, 0.0]]]])).tolist()  # rows of 1 bit and of 0 bits
    [[0.5]]
    """
    weights = _checked(weights)
    logarithms = np.log2(np.where(weights > 0, weights, 1))
    return _mean_over_rows(np.einsum("lhqk,lhqk->lhq", weights, -logarithms))


def distance(weights: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """(L, H) float32, in tokens: how far from where it stands a row looks on average, averaged over rows.

    Args:
        weights: (L, H, Q, K), rows that sum to 1.
        positions: (Q,) the key at which each row stands, such as ``edits.row_positions``. Rows with -1 stand
            nowhere and are left out; without any other row the distance is 0.

    Raises ValueError for shapes that do not fit each other.
    """
    weights, positions = _checked(weights), np.asarray(positions)
    if positions.shape != weights.shape[2:3]:
        raise ValueError(
            f"positions should have the shape (Q,) = {weights.shape[2:3]}, received {positions.shape}"
        )
    standing = positions >= 0
    steps = np.abs(np.arange(weights.shape[3], dtype=np.float32) - positions[standing, None])  # (R, K)
    return _mean_over_rows(np.einsum("lhqk,qk->lhq", weights[:, :, standing], steps))


def _checked(weights: np.ndarray) -> np.ndarray:
    weights = np.asarray(weights, np.float32)
    if weights.ndim != 4:
        raise ValueError(f"weights should have the shape (L, H, Q, K), received {weights.shape}")
    return weights


def _mean_over_rows(values: np.ndarray) -> np.ndarray:
    """(L, H, R) -> (L, H) float32, 0 where there are no rows."""
    return (values.sum(-1) / max(values.shape[-1], 1)).astype(np.float32)
