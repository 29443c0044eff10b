"""Means over many sentences with 95% intervals, kept as sums so that two surveys can be added.

Rows of one sentence resemble each other, so the interval counts sentences and not rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

_TWO_SIDED_95 = 1.96


class Estimate(NamedTuple):
    """A mean over rows and half the width of its 95% interval; nan where there are no rows."""

    mean: np.ndarray
    margin: np.ndarray
    rows: int
    sentences: int


@dataclass(eq=False)
class Tally:
    """Sums of a quantity of any fixed shape, sentence by sentence.

    Rows of one sentence are alike, so the interval is that of a ratio of two sums over sentences (Cochran, "Sampling
    Techniques", 1977, section 6.3): sum of values over number of rows.
    """

    FIELDS: ClassVar[int] = 5  # sums of: value, count, value², value * count, count²

    sums: np.ndarray  # (FIELDS, …) float64
    sentences: int = 0

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> Tally:
        return cls(np.zeros((cls.FIELDS, *shape)))

    def add(self, rows: np.ndarray) -> None:
        """The rows (R, …) of one more sentence; none leave the tally as it is."""
        if len(rows):
            value, count = rows.sum(axis=0, dtype=np.float64), float(len(rows))
            ones = np.ones_like(value)
            self.sums += np.stack([value, count * ones, value**2, value * count, count**2 * ones])
            self.sentences += 1

    def __add__(self, other: Tally) -> Tally:
        """The sums over the sentences of both."""
        return Tally(self.sums + other.sums, self.sentences + other.sentences)

    def estimate(self) -> Estimate:
        value, count, square, mixed, counts = self.sums
        if not self.sentences:
            nothing = np.full(value.shape, np.nan)
            return Estimate(nothing, nothing, 0, 0)
        mean = value / count
        # Of the differences value - mean * count, one for each sentence.
        spread = np.maximum(square - 2 * mean * mixed + mean**2 * counts, 0)
        others = self.sentences - 1
        variance = spread / count**2 * (self.sentences / others if others else np.nan)
        return Estimate(mean, _TWO_SIDED_95 * np.sqrt(variance), int(count.flat[0]), self.sentences)
