"""Integrated gradients along a straight path, with more points where the gradient changes fast.

Points at equal distances would need far more of them: ReLU makes kinks in the path, and most of it is smooth.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

TOLERATED_GAP = 0.01  # how far the sum may miss what it should be, as a share of it
_TOLERATED_ERRORS = 0.1  # the same for the sizes of all intervals' errors, which may cancel out
_FIRST, _SPLIT, _MOST = 8, 8, 160  # intervals at first, intervals split at a time, points at most

Slope = Callable[[Sequence[float]], tuple[np.ndarray, np.ndarray]]


def integrate(slope: Slope) -> tuple[np.ndarray, float]:
    """The integral of a gradient over 0..1, and by what share it misses the whole change of the score.

    ``slope``: points (P,) of the path -> the score (P,) and its derivatives (P, N) there. By the fundamental theorem
    the integral of an interval, summed over N, is the difference of the score at both ends. Each interval is integrated
    by Simpson's rule, and those that miss this difference most are halved, until ``TOLERATED_GAP`` is met or _MOST
    points are known.

    Returns (N,) float64 and (sum - change) / |change|, or the plain difference where nothing changes.
    Source: Sundararajan, Taly & Yan, "Axiomatic Attribution for Deep Networks" (ICML 2017), section 3.
    """
    known: dict[float, tuple[float, np.ndarray]] = {}
    edges = np.linspace(0, 1, _FIRST + 1).tolist()
    intervals = list(pairwise(edges))
    _evaluate(slope, known, [*edges, *map(_middle, intervals)])
    whole = known[1.0][0] - known[0.0][0]
    scale = abs(whole) or 1.0
    while True:
        sums = [_simpson(known, interval) for interval in intervals]
        errors = [
            part.sum() - (known[end][0] - known[start][0])
            for part, (start, end) in zip(sums, intervals, strict=True)
        ]
        gap = sum(errors) / scale
        rough = sum(map(abs, errors)) / scale
        if (abs(gap) <= TOLERATED_GAP and rough <= _TOLERATED_ERRORS) or len(known) >= _MOST:
            return np.sum(sums, axis=0), float(gap)
        worst = np.argsort(-np.abs(errors))[:_SPLIT].tolist()
        halves = [half for place in worst for half in _halves(intervals[place])]
        intervals = [each for place, each in enumerate(intervals) if place not in worst] + halves
        _evaluate(slope, known, list(map(_middle, halves)))


def _evaluate(slope: Slope, known: dict, points: list[float]) -> None:
    scores, slopes = slope(points)
    for point, score, row in zip(points, scores, slopes, strict=True):
        known[point] = float(score), row.astype(np.float64)


def _middle(interval: tuple[float, float]) -> float:
    return (interval[0] + interval[1]) / 2


def _halves(interval: tuple[float, float]) -> list[tuple[float, float]]:
    return [(interval[0], _middle(interval)), (_middle(interval), interval[1])]


def _simpson(known: dict, interval: tuple[float, float]) -> np.ndarray:
    start, end = interval
    rows = [known[point][1] for point in (start, _middle(interval), end)]
    return (end - start) / 6 * (rows[0] + 4 * rows[1] + rows[2])
