"""Small decision trees whose leaves are added up to log odds, stored as JSON. ``training/measure/boosting.py`` fits them.

Every installation that corrects text reads them. With scikit-learn or LightGBM each would need a library for training, and
scikit-learn's own files are pickles.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

DEEPEST = 8  # questions one after the other in a tree

# A leaf; or feature, threshold, tree below it, tree from it on.
Tree = float | tuple[int, float, "Tree", "Tree"]


@dataclass(frozen=True)
class Trees:
    """Trees whose leaves add up to the log odds that something is right. ``fields``: the names of the features, in order."""

    fields: tuple[str, ...]
    start: float  # the log odds before any tree
    trees: tuple[Tree, ...]

    @classmethod
    def parse(cls, fields: Sequence[str], values: object) -> "Trees":
        """From what ``to_json`` wrote. Raises ValueError for anything else."""
        if not isinstance(values, dict) or "start" not in values or not isinstance(values.get("trees"), list):
            raise ValueError(f"no start and trees: {str(values)[:80]}")
        trees = tuple(_parse(tree, fields) for tree in values["trees"])
        return cls(tuple(fields), _number(values["start"]), trees)

    def to_json(self) -> str:
        """The trees, one a line, with the features by name."""
        trees = ",\n".join(json.dumps(_named(tree, self.fields)) for tree in self.trees)
        return f'{{"start": {round(self.start, 4)}, "trees": [\n{trees}\n]}}'

    def log_odds(self, rows: Sequence[Sequence[float]] | np.ndarray) -> np.ndarray:
        """(N,) the logarithm of the odds for each of these rows of features (N, F)."""
        values = np.asarray(rows, float).reshape(-1, len(self.fields))
        asked, thresholds, leaves = self._arrays
        count, questions = asked.shape
        row = len(self.fields) * np.arange(len(values))[:, np.newaxis]  # where each begins in the flat array
        tree = questions * np.arange(count)
        node = np.zeros((len(values), count), int)
        for _ in range(leaves.shape[1].bit_length() - 1):
            place = tree + node  # ``take`` from a flat array is three times as fast as two indices
            node = 2 * node + 1 + (values.take(row + asked.take(place)) >= thresholds.take(place))
        return self.start + leaves.take(leaves.shape[1] * np.arange(count) + node - questions).sum(1)

    @cached_property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All trees of one depth d, in breadth-first order: features and thresholds (trees, 2**d - 1), leaves (trees, 2**d)."""
        depth = max(map(_depth, self.trees), default=0)
        levels = [_level(tree, depth) for tree in self.trees]
        asked = np.array([[feature for feature, _ in questions] for questions, _ in levels], int)
        thresholds = np.array([[limit for _, limit in questions] for questions, _ in levels], float)
        leaves = np.array([values for _, values in levels], float)
        count, nodes = len(self.trees), 2**depth
        return (
            asked.reshape(count, nodes - 1),
            thresholds.reshape(count, nodes - 1),
            leaves.reshape(count, nodes),
        )


def _depth(tree: Tree) -> int:
    return 1 + max(map(_depth, tree[2:])) if isinstance(tree, tuple) else 0


def _level(tree: Tree, depth: int) -> tuple[list[tuple[int, float]], list[Tree]]:
    """The questions and leaves of a tree, breadth first. Below an early leaf stand questions that decide nothing."""
    row: list[Tree] = [tree]
    questions: list[tuple[int, float]] = []
    for _ in range(depth):
        nodes = [node if isinstance(node, tuple) else (0, 0.0, node, node) for node in row]
        questions += [(node[0], node[1]) for node in nodes]
        row = [part for node in nodes for part in node[2:]]
    return questions, row


def _named(tree: Tree, fields: Sequence[str]) -> float | list:
    if not isinstance(tree, tuple):
        return round(tree, 4)
    feature, threshold, below, above = tree
    return [fields[feature], round(threshold, 4), _named(below, fields), _named(above, fields)]


def _parse(values: object, fields: Sequence[str], depth: int = 0) -> Tree:
    if not isinstance(values, list):
        return _number(values)
    if len(values) != 4 or values[0] not in fields or depth == DEEPEST:
        raise ValueError(f"not a tree: {str(values)[:80]}")
    name, threshold, below, above = values
    question = fields.index(name), _number(threshold)
    return *question, _parse(below, fields, depth + 1), _parse(above, fields, depth + 1)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"not a number: {value!r}")
    return float(value)
