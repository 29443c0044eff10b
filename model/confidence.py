"""How sure a change is: what the network thinks of it, and whether its words are known.

The network reads characters and knows no list of words, so it is as sure of a non-word as of a word. Here small decision
trees put its probabilities together with how often the words, before and after the change, stand in the training sentences. They were
fitted on development pairs (``python -m training confidence``) and are data: ``confidence.json`` holds them, ``words.txt.gz`` the counts.
A model folder without these two files has the network's own confidence.
"""

import json
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from model.changes import Change, apply_changes
from model.words import WORDS_FILE, Words, touching

CONFIDENCE_FILE = "confidence.json"
FILES = (CONFIDENCE_FILE, WORDS_FILE)
LEAST_PROBABILITY = 1e-9
DEEPEST = 8  # questions one after the other in a tree


class Features(NamedTuple):
    """What the trees ask about one change."""

    fix: float  # log of ``fix_probability``
    keep: float  # log of ``keep_probability``
    network: float  # the network's own confidence
    wrong_count: float  # ``words.Known`` of the words that stood there
    wrong_beginning: float
    wrong_beginning_count: float
    right_count: float  # ``words.Known`` of the words that would stand there
    right_beginning: float
    right_beginning_count: float
    spaces: float  # 0 letters alone, 1 spaces alone, 2 letters and spaces
    length: float  # characters
    jamo: float  # the fewest jamo that differ
    changes: float  # proposed in the sentence
    sentence: float  # the sum of the logarithms of the network's confidence in all of them


# 1: more of it never makes a change less sure; -1: never surer. The others are free.
MONOTONE = {
    "fix": 1,
    "keep": -1,
    "network": 1,
    "wrong_count": -1,
    "right_count": 1,
    "right_beginning": 1,
}

Tree = (
    float | tuple[int, float, "Tree", "Tree"]
)  # a leaf; or feature, threshold, tree below it, tree from it on


def features(source: str, proposed: Sequence[Change], words: Words) -> list[Features]:
    """The features of each change proposed in one sentence. Raises ValueError for a change no network made."""
    target = apply_changes(source, proposed)
    sentence = sum(math.log(max(change.network_confidence, LEAST_PROBABILITY)) for change in proposed)
    rows, drift = [], 0
    for change in proposed:
        start = change.source_start + drift
        drift += len(change.right) - len(change.wrong)
        wrong = words.known(touching(source, change.source_start, change.source_end))
        right = words.known(touching(target, start, start + len(change.right)))
        rows.append(
            Features(
                math.log(max(change.fix_probability, LEAST_PROBABILITY)),
                math.log(max(change.keep_probability, LEAST_PROBABILITY)),
                change.network_confidence,
                *wrong,
                *right,
                _spaces(change),
                max(len(change.wrong), len(change.right)),
                Levenshtein.distance(
                    *(unicodedata.normalize("NFD", text) for text in (change.wrong, change.right))
                ),
                len(proposed),
                sentence,
            )
        )
    return rows


def _spaces(change: Change) -> int:
    if not change.wrong.strip() and not change.right.strip():
        return 1
    return 2 if " " in change.wrong + change.right else 0


@dataclass(frozen=True)
class Confidence:
    """Trees whose leaves add up to the log odds that a change is right."""

    words: Words
    start: float  # the log odds before any tree
    trees: tuple[Tree, ...]

    @classmethod
    def read(cls, folder: Path) -> "Confidence | None":
        """What a model folder holds; None where it has none. Raises OSError or ValueError where a file is damaged."""
        if not (folder / CONFIDENCE_FILE).is_file():
            return None
        values = json.loads((folder / CONFIDENCE_FILE).read_text("utf-8"))
        if not isinstance(values, dict) or not {"start", "trees"} <= values.keys():
            raise ValueError("neither start nor trees")
        trees = tuple(_parse(tree) for tree in values["trees"])
        return cls(Words.read(folder / WORDS_FILE), _number(values["start"]), trees)

    def to_json(self) -> str:
        """The trees as ``read`` takes them, one a line, with the features by name."""
        trees = ",\n    ".join(json.dumps(_named(tree)) for tree in self.trees)
        return f'{{\n  "start": {round(self.start, 4)},\n  "trees": [\n    {trees}\n  ]\n}}\n'

    def weigh(self, source: str, proposed: Sequence[Change]) -> tuple[Change, ...]:
        """The changes proposed in one sentence, each with its confidence."""
        rows = features(source, proposed, self.words)
        return tuple(
            replace(change, known_confidence=self.probability(row))
            for change, row in zip(proposed, rows, strict=True)
        )

    def probability(self, row: Sequence[float]) -> float:
        """That a change with these features is right."""
        return 1 / (1 + math.exp(-min(max(self.odds(row), -50.0), 50.0)))

    def odds(self, row: Sequence[float]) -> float:
        """The logarithm of the odds that a change with these features is right."""
        return self.start + sum(_leaf(tree, row) for tree in self.trees)


def _leaf(tree: Tree, row: Sequence[float]) -> float:
    while isinstance(tree, tuple):
        feature, threshold, below, above = tree
        tree = above if row[feature] >= threshold else below
    return tree


def _named(tree: Tree) -> float | list:
    if not isinstance(tree, tuple):
        return round(tree, 4)
    feature, threshold, below, above = tree
    return [Features._fields[feature], round(threshold, 4), _named(below), _named(above)]


def _parse(values: object, depth: int = 0) -> Tree:
    if not isinstance(values, list):
        return _number(values)
    if len(values) != 4 or values[0] not in Features._fields or depth == DEEPEST:
        raise ValueError(f"not a tree: {str(values)[:80]}")
    name, threshold, *parts = values
    return Features._fields.index(name), _number(threshold), *(_parse(part, depth + 1) for part in parts)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"not a number: {value!r}")
    return float(value)
