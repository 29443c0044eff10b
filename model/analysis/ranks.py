"""How well two rankings agree: Spearman's correlation, and the share of the top places that both have."""

import numpy as np


def ranks(values: np.ndarray) -> np.ndarray:
    """(N,) -> (N,) float64 ranks from 0, the smallest value first; equal values share their mean rank."""
    values = np.asarray(values, np.float64)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts + 1) / 2)[inverse]


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's rank correlation (1904) of two (N,) arrays, in -1..1; nan where either does not vary.

    Raises ValueError for arrays of different lengths.

    >>> round(float(rank_correlation(np.array([1, 2, 3]), np.array([1, 3, 2]))), 2)
    0.5
    """
    if np.shape(one) != np.shape(other):
        raise ValueError(f"both should be equally long, received {np.shape(one)} and {np.shape(other)}")
    centred = [ranks(values) - (len(values) - 1) / 2 for values in (one, other)]
    lengths = np.prod([np.linalg.norm(each) for each in centred])
    return float(centred[0] @ centred[1] / lengths) if lengths > 0 else float("nan")


def top(values: np.ndarray, count: int) -> list[int]:
    """Positions of the ``count`` largest of (N,) values, the largest first; of equal ones the earlier."""
    return np.argsort(-np.asarray(values), kind="stable")[:count].tolist()


def shared_top(one: np.ndarray, other: np.ndarray, count: int) -> float:
    """The share, in 0..1, of the ``count`` largest values of ``one`` that are also among those of ``other``."""
    first, second = top(one, count), top(other, count)
    return len(set(first) & set(second)) / max(len(first), 1)
