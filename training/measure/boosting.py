"""Fitting small decision trees one after the other, each to what the ones before leave wrong (Friedman 2001).

LightGBM and scikit-learn fit the same trees with the same monotone features. For some thousand rows their speed saves nothing, and
what they fit would have to be turned into ``model.correction.confidence.Tree`` anyway.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.correction.confidence import Tree

STEPS = 25  # steps of Newton's method, more than it needs to find two numbers
RIDGE = 1e-6  # where all rows have the same odds there is no slope to find


@dataclass(frozen=True)
class Boosting:
    """How the trees are fitted."""

    trees: int = 150
    depth: int = 2  # questions before a leaf; with two, the values of two features count together
    rate: float = 0.1  # of each tree's leaves that is added
    thresholds: int = 31  # tried for each feature
    fewest: int = 20  # examples in a leaf
    ridge: float = 1.0  # pulls the leaves toward 0


def fit(
    rows: np.ndarray, right: np.ndarray, monotone: Sequence[int], how: Boosting = Boosting()
) -> tuple[float, tuple[Tree, ...]]:
    """(the log odds before any tree, the trees) for rows (N, features) and whether each row is right (N,).

    ``monotone``: for each feature 1 if a larger value may never lower the odds, -1 if it may never raise them, else 0.
    Raises ValueError if all rows are right or none is.
    """
    mean = float(np.mean(right))
    if not 0 < mean < 1:
        raise ValueError(f"some rows should be right and some wrong; right are {mean:.0%} of {len(rows)}")
    start = float(np.log(mean / (1 - mean)))
    edges = [_thresholds(column, how.thresholds) for column in rows.T]
    bins = np.stack([np.searchsorted(e, x, side="right") for e, x in zip(edges, rows.T, strict=True)], 1)
    log_odds, trees = np.full(len(rows), start), []
    for _ in range(how.trees):
        probability = 1 / (1 + np.exp(-log_odds))
        grower = _Grower(
            bins, edges, monotone, right - probability, probability * (1 - probability), how, log_odds
        )
        trees.append(grower.grow(np.arange(len(rows)), how.depth, -np.inf, np.inf))
    return start, tuple(trees)


def calibrated(
    start: float, trees: Sequence[Tree], log_odds: np.ndarray, right: np.ndarray
) -> tuple[float, tuple[Tree, ...]]:
    """The same trees, scaled so that their log odds (N,) agree with how often rows are right (N,) (Platt 1999).

    The order of the rows stays as it is. Raises ValueError if surer rows are right less often.
    """
    design = np.stack([np.ones_like(log_odds), log_odds], 1)
    line = np.array([0.0, 1.0])
    for _ in range(STEPS):
        probability = 1 / (1 + np.exp(-np.clip(design @ line, -50, 50)))
        curvature = design.T * (probability * (1 - probability)) @ design
        line += np.linalg.solve(curvature + RIDGE * np.eye(2), design.T @ (right - probability))
    shift, slope = map(float, line)
    if not slope > 0:
        raise ValueError(f"surer rows should be right more often, the slope is {slope:.3f}")
    return shift + slope * start, tuple(_scaled(tree, slope) for tree in trees)


def _scaled(tree: Tree, slope: float) -> Tree:
    if not isinstance(tree, tuple):
        return slope * tree
    feature, threshold, below, above = tree
    return feature, threshold, _scaled(below, slope), _scaled(above, slope)


def _thresholds(values: np.ndarray, count: int) -> np.ndarray:
    """Thresholds halfway between neighbouring values, so that rounding a threshold moves no row to its other side."""
    distinct = np.unique(values)
    between = (distinct[1:] + distinct[:-1]) / 2
    if len(between) > count:
        wanted = np.quantile(values, np.linspace(0, 1, count + 2)[1:-1])
        between = between[np.unique(np.searchsorted(between, wanted).clip(max=len(between) - 1))]
    return between


@dataclass
class _Grower:
    """One tree; the gradient and curvature of the logistic loss say what its leaves should add."""

    bins: np.ndarray  # (N, features) number of the first threshold above the value
    edges: list[np.ndarray]
    monotone: Sequence[int]
    gradient: np.ndarray  # (N,)
    curvature: np.ndarray  # (N,)
    how: Boosting
    log_odds: np.ndarray  # (N,) what the leaves are added to

    def grow(self, rows: np.ndarray, depth: int, low: float, high: float) -> Tree:
        """The tree for these rows, its leaves between ``low`` and ``high`` before the rate is applied."""
        value = float(np.clip(self._best(self.gradient[rows].sum(), self.curvature[rows].sum()), low, high))
        split = self._split(rows, value, low, high) if depth else None
        if split is None:
            leaf = self.how.rate * value
            self.log_odds[rows] += leaf
            return leaf
        feature, edge, below, above = split
        lows, highs = self._bounds(feature, (below + above) / 2, low, high)
        is_below = self.bins[rows, feature] <= edge
        return (
            feature,
            float(self.edges[feature][edge]),
            self.grow(rows[is_below], depth - 1, *lows),
            self.grow(rows[~is_below], depth - 1, *highs),
        )

    def _best(self, gradient, curvature):
        return gradient / (curvature + self.how.ridge)

    def _gain(self, gradient, curvature, value):
        return gradient * value - 0.5 * (curvature + self.how.ridge) * value**2

    def _bounds(self, feature: int, middle: float, low: float, high: float):
        """Below and above the split: on a monotone feature neither side may pass the middle."""
        if self.monotone[feature] > 0:
            return (low, middle), (middle, high)
        if self.monotone[feature] < 0:
            return (middle, high), (low, middle)
        return (low, high), (low, high)

    def _split(self, rows, value, low, high) -> tuple[int, int, float, float] | None:
        """(feature, number of the threshold, value below, value above) of the best split that gains anything."""
        gradient, curvature = self.gradient[rows], self.curvature[rows]
        least, best = self._gain(gradient.sum(), curvature.sum(), value) + 1e-3, None
        for feature, edges in enumerate(self.edges):
            if not len(edges):
                continue
            bins, size = self.bins[rows, feature], len(edges) + 1
            g, h, n = (np.bincount(bins, w, size).cumsum()[:-1] for w in (gradient, curvature, None))
            rest = gradient.sum() - g, curvature.sum() - h
            below, above = np.clip(self._best(g, h), low, high), np.clip(self._best(*rest), low, high)
            gain = self._gain(g, h, below) + self._gain(*rest, above)
            allowed = (n >= self.how.fewest) & (len(rows) - n >= self.how.fewest)
            allowed &= self.monotone[feature] * (above - below) >= 0
            gain = np.where(allowed, gain, -np.inf)
            edge = int(gain.argmax())
            if gain[edge] > least:
                least, best = gain[edge], (feature, edge, float(below[edge]), float(above[edge]))
        return best
