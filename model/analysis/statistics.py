"""Statistics: rank correlation, p-value, 95% intervals of proportions and of means over sentences.

References: Spearman (1904); Wilson (1927), for the interval of a proportion; Cochran, "Sampling Techniques"
(1977), section 6.3, for that of a ratio of sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np


def ranks(values: np.ndarray) -> np.ndarray:
    """(N,) -> (N,) float64 ranks from 0, the smallest value first; equal values share their mean rank.

    >>> ranks(np.array([5, 1, 5])).tolist()
    [1.5, 0.0, 1.5]
    """
    values = np.asarray(values, np.float64)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts + 1) / 2)[inverse]


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's rank correlation of two (N,) arrays, in -1..1; nan where either does not vary.

    Raises:
        ValueError: for arrays of different lengths.

    Example:
        >>> round(float(rank_correlation(np.array([1, 2, 3]), np.array([1, 3, 2]))), 2)
        0.5
    """
    if np.shape(one) != np.shape(other):
        raise ValueError(f"both should be equally long, received {np.shape(one)} and {np.shape(other)}")
    centred = [ranks(values) - (len(values) - 1) / 2 for values in (one, other)]
    lengths = np.prod([np.linalg.norm(each) for each in centred])
    return float(centred[0] @ centred[1] / lengths) if lengths > 0 else float("nan")


def p_value(null: np.ndarray, observed: float) -> float:
    """The one-sided p-value of an observation against draws (N,) under the null, at least 1/(N + 1).

    The observation counts as one more draw (Phipson & Smyth, "Permutation P-values Should Never Be Zero",
    2010). NaN for an observation that is NaN.

    >>> p_value(np.arange(99.0), 99.0), p_value(np.arange(99.0), 98.0)
    (0.01, 0.02)
    """
    return float("nan") if np.isnan(observed) else float(1 + np.sum(null >= observed)) / (len(null) + 1)


def top(values: np.ndarray, count: int) -> list[int]:
    """Positions of the ``count`` largest of (N,) values, the largest first; of equal ones the earlier.

    >>> top(np.array([1, 3, 2]), 2)
    [1, 2]
    """
    return np.argsort(-np.asarray(values), kind="stable")[:count].tolist()


def shared_top(one: np.ndarray, other: np.ndarray, count: int) -> float:
    """The share, in 0..1, of the ``count`` largest places of ``one`` that ``other`` shares.

    >>> shared_top(np.array([1, 3, 2]), np.array([3, 2, 1]), 2)
    0.5
    """
    first, second = top(one, count), top(other, count)
    return len(set(first) & set(second)) / max(len(first), 1)


def settled_from(values: np.ndarray) -> int:
    """The first index from which on all (N,) values equal the last one.

    >>> settled_from(np.array([3, 5, 3, 3]))
    2
    """
    others = np.flatnonzero(values != values[-1])
    return int(others[-1]) + 1 if others.size else 0


Z_95 = 1.959963984540054  # the standard normal quantile that leaves 2.5% on each side


def wilson_interval(successes: int, count: int) -> tuple[float, float]:
    """The 95% score interval of a proportion (Wilson 1927); ``(nan, nan)`` for no trials.

    Unlike the normal approximation it stays inside 0..1 and is honest at 0% and 100%.

    >>> low, high = wilson_interval(8, 10)
    >>> round(low, 2), round(high, 2)
    (0.49, 0.94)
    """
    if not count:
        return math.nan, math.nan
    proportion = successes / count
    centre = proportion + Z_95**2 / (2 * count)
    spread = Z_95 * math.sqrt(proportion * (1 - proportion) / count + Z_95**2 / (4 * count**2))
    scale = 1 + Z_95**2 / count
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


class Estimate(NamedTuple):
    """A mean over rows and half the width of its 95% interval; nan without rows."""

    mean: np.ndarray
    margin: np.ndarray
    rows: int
    sentences: int


@dataclass(eq=False)
class Tally:
    """Sums of a quantity of any fixed shape, sentence by sentence; those of two surveys can be added.

    Rows of one sentence are alike, so the interval counts sentences: sum of values over number of rows.
    """

    FIELDS: ClassVar[int] = 5  # sums of: value, count, value², value * count, count²

    sums: np.ndarray  # (FIELDS, …) float64
    sentences: int = 0

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> Tally:
        """A tally of a quantity of this shape without any sentence.

        >>> Tally.empty((2, 3)).sums.shape
        (5, 2, 3)
        """
        return cls(np.zeros((cls.FIELDS, *shape)))

    def add(self, rows: np.ndarray) -> None:
        """Add the rows (R, …) of one more sentence; none leave the tally as it is."""
        if len(rows):
            value, count = rows.sum(axis=0, dtype=np.float64), float(len(rows))
            ones = np.ones_like(value)
            self.sums += np.stack([value, count * ones, value**2, value * count, count**2 * ones])
            self.sentences += 1

    def __add__(self, other: Tally) -> Tally:
        """The sums over the sentences of both."""
        return Tally(self.sums + other.sums, self.sentences + other.sentences)

    def estimate(self) -> Estimate:
        """The mean and its margin, in the unit of the rows.

        >>> tally = Tally.empty(())
        >>> tally.add(np.array([1.0, 3.0]))
        >>> float(tally.estimate().mean)
        2.0
        """
        value, count, square, mixed, counts = self.sums
        if not self.sentences:
            nothing = np.full(value.shape, np.nan)
            return Estimate(nothing, nothing, 0, 0)
        mean = value / count
        # Of the differences value - mean * count, one for each sentence.
        spread = np.maximum(square - 2 * mean * mixed + mean**2 * counts, 0)
        others = self.sentences - 1
        variance = spread / count**2 * (self.sentences / others if others else np.nan)
        return Estimate(mean, Z_95 * np.sqrt(variance), int(count.flat[0]), self.sentences)
