"""Gradient-boosted decision trees for the confidence of a proposed change, fitted by LightGBM and calibrated.

Installations that correct text read the exported trees (``model.correction.confidence``) and need no library for them. LightGBM, unlike
scikit-learn, documents the export of a fitted tree (``dump_model``).

Reference: "LightGBM: A Highly Efficient Gradient Boosting Decision Tree" (Ke et al., 2017); "Probabilistic outputs for support vector
machines" (Platt, 1999), for the calibration.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from model.correction.confidence import Tree

STEPS = 25  # steps of Newton's method, more than it needs to find two numbers
RIDGE = 1e-6  # where all rows have the same odds there is no slope to find


@dataclass(frozen=True)
class Boosting:
    """The settings of a fit; a leaf is pulled toward 0 by ``ridge``."""

    trees: int = 150
    depth: int = 2  # questions before a leaf; with two, the values of two features count together
    rate: float = 0.1  # of each tree's leaves that is added
    thresholds: int = 31  # tried for each feature
    fewest: int = 20  # examples in a leaf
    ridge: float = 1.0


def fit(
    rows: np.ndarray, right: np.ndarray, monotone: Sequence[int], how: Boosting = Boosting()
) -> tuple[float, tuple[Tree, ...]]:
    """Fit trees to whether each row is right. The same rows give the same trees.

    Args:
        rows: Features, (N, F).
        right: 1 where a row is right, else 0, (N,).
        monotone: For each feature 1 if a larger value may never lower the odds, -1 if it may never raise them, else 0.
        how: Number and size of the trees.

    Returns:
        The log odds before any tree, and the trees.

    Raises:
        ValueError: if all rows are right or none is.
    """
    import lightgbm

    mean = float(np.mean(right))
    if not 0 < mean < 1:
        raise ValueError(f"some rows should be right and some wrong; right are {mean:.0%} of {len(rows)}")
    start = float(np.log(mean / (1 - mean)))
    settings = {
        "objective": "binary",
        "boost_from_average": False,
        "learning_rate": how.rate,
        "max_depth": how.depth,
        "num_leaves": 2**how.depth,
        "max_bin": how.thresholds + 1,
        "min_data_in_bin": 1,
        "min_data_in_leaf": how.fewest,
        "min_sum_hessian_in_leaf": 0.0,
        "lambda_l2": how.ridge,
        "min_gain_to_split": 1e-3,
        "monotone_constraints": list(monotone),
        "deterministic": True,
        "force_col_wise": True,
        "num_threads": 1,
        "verbosity": -1,
    }
    data = lightgbm.Dataset(rows, right, init_score=np.full(len(rows), start))
    fitted = lightgbm.train(settings, data, how.trees).dump_model()
    values = [np.unique(column) for column in rows.T]
    return start, tuple(_tree(each["tree_structure"], values) for each in fitted["tree_info"])


def _tree(node: Mapping[str, Any], values: Sequence[np.ndarray]) -> Tree:
    """A node of LightGBM with all below it. ``values``: the distinct values of each feature in the rows."""
    if "leaf_value" in node:
        return float(node["leaf_value"])
    feature, below, above = node["split_feature"], node["left_child"], node["right_child"]
    # Halfway between neighbouring values, so that rounding a threshold moves no row to its other side.
    place = int(np.searchsorted(values[feature], node["threshold"], side="right"))
    threshold = float((values[feature][place - 1] + values[feature][place]) / 2)
    return feature, threshold, _tree(below, values), _tree(above, values)


def calibrated(
    start: float, trees: Sequence[Tree], log_odds: np.ndarray, right: np.ndarray
) -> tuple[float, tuple[Tree, ...]]:
    """The same trees, scaled so that their log odds (N,) agree with how often rows are right (N,).

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
