"""What is to stand in a text, and how sure that is: what the network thinks of it, and whether its words and phrases are known.

The network reads characters and knows no list of words, so it is as sure of a non-word as of a word. Here small decision
trees put its probabilities together with how often the words, before and after the change, stand in the training sentences, and with how
usual the run of characters is (``ngrams``). Where the network found several answers not improbable, the one that the trees think likeliest is
proposed. They were fitted on development pairs (``python -m training confidence``) and are data: ``confidence.json`` holds them,
``words.txt.gz`` and ``ngrams.npz`` the counts. A model folder without these files has the network's own answer and confidence.
"""

import json
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from model.candidates import Stretch
from model.changes import find_changes
from model.ngrams import NGRAMS_FILE, ORDER, NGrams
from model.words import WORDS_FILE, Words, touching

CONFIDENCE_FILE = "confidence.json"
FILES = (CONFIDENCE_FILE, WORDS_FILE, NGRAMS_FILE)
LEAST_LOG = math.log(1e-5)  # what is less probable counts as this
ALONE = 20.0  # how much more usual a phrase is than that of the next candidate, where there is none
DEEPEST = 8  # questions one after the other in a tree


class Features(NamedTuple):
    """What the trees ask about one candidate. Probabilities are natural logarithms, the network's, and LEAST_LOG at least."""

    fix: float  # of the candidate
    keep: float  # of the source as it is
    other: float  # of the most probable other candidate
    network: float  # the network's own confidence, fix · (1 − keep)
    wrong_count: float  # ``words.Known`` of the words that stand there
    wrong_beginning: float
    wrong_beginning_count: float
    right_count: float  # ``words.Known`` of the words that would stand there
    right_beginning: float
    right_beginning_count: float
    spaces: float  # 0 letters alone, 1 spaces alone, 2 letters and spaces
    length: float  # characters
    jamo: float  # the fewest jamo that differ
    changes: float  # stretches of the sentence in which the network wrote something else
    sentence: float  # of what it wrote in all other stretches, together
    candidates: float  # in the stretch
    written: float  # 1 if it is what the network wrote
    phrase_kept: (
        float  # how much more usual the phrase is than the source's, as ``ngrams.NGrams.scores`` has it
    )
    phrase_other: float  # than that of the most usual other candidate
    phrase: float  # how usual it is, for each character


# 1: more of it never makes a candidate less sure; -1: never surer. The others are free.
MONOTONE = {
    "fix": 1,
    "keep": -1,
    "network": 1,
    "wrong_count": -1,
    "right_count": 1,
    "sentence": 1,
    "phrase_kept": 1,
    "phrase_other": 1,
}

Tree = (
    float | tuple[int, float, "Tree", "Tree"]
)  # a leaf; or feature, threshold, tree below it, tree from it on


class Rated(NamedTuple):
    """A candidate of the stretch with this number, and what the trees ask about it."""

    stretch: int
    text: str
    features: Features


def features(source: str, stretches: Sequence[Stretch], words: Words, ngrams: NGrams) -> list[Rated]:
    """All candidates of one sentence that would change it. Each is looked at where all else is as the network wrote it."""
    sentence = _Sentence(source, stretches)
    spans = {
        (number, text): sentence.span(number, text)
        for number, stretch in enumerate(stretches)
        for text in stretch.candidates
    }
    usual = dict(zip(spans, ngrams.scores(list(spans.values())).tolist(), strict=True))
    logs = [{text: max(log, LEAST_LOG) for text, log in stretch.candidates.items()} for stretch in stretches]
    certain = [mine[stretch.written] for mine, stretch in zip(logs, stretches, strict=True)]
    changed = sum(stretch.is_changed for stretch in stretches)
    rated = []
    for number, (mine, stretch) in enumerate(zip(logs, stretches, strict=True)):
        keep = mine[stretch.kept]
        wrong = words.known(touching(source, stretch.start, stretch.end))
        for text, fix in mine.items():
            if text == stretch.kept:
                continue
            others = [each for each in mine if each not in (text, stretch.kept)]
            whole, start, stop = spans[number, text]
            phrase = usual[number, text]
            row = Features(
                fix,
                keep,
                max((mine[each] for each in others), default=LEAST_LOG),
                math.exp(fix) * (1 - math.exp(keep)),
                *wrong,
                *words.known(touching(whole, start, start + len(text))),
                _spaces(stretch.kept, text),
                max(len(stretch.kept), len(text)),
                Levenshtein.distance(*(unicodedata.normalize("NFD", each) for each in (stretch.kept, text))),
                changed,
                sum(certain) - certain[number],
                len(mine),
                text == stretch.written,
                phrase - usual[number, stretch.kept],
                phrase - max((usual[number, each] for each in others), default=phrase - ALONE),
                phrase / max(stop - start, 1),
            )
            rated.append(Rated(number, text, row))
    return rated


class _Sentence:
    """A source whose stretches are as the network wrote them, but for one."""

    def __init__(self, source: str, stretches: Sequence[Stretch]):
        self._parts, done = [], 0  # what stands before each stretch, and what is written there
        for stretch in stretches:
            self._parts += [source[done : stretch.start], stretch.written]
            done = stretch.end
        self._parts.append(source[done:])

    def span(self, number: int, text: str) -> tuple[str, int, int]:
        """The sentence with ``text`` in one stretch, where that begins, and how far its n-grams reach."""
        before, after = self._parts[: 2 * number + 1], self._parts[2 * number + 2 :]
        start = sum(map(len, before))
        whole = "".join([*before, text, *after])
        return whole, start, min(start + len(text) + ORDER - 1, len(whole) + 1)


def _spaces(kept: str, text: str) -> int:
    changes = find_changes(kept, text)
    wrong, right = ("".join(parts) for parts in zip(*((c.wrong, c.right) for c in changes), strict=True))
    if not wrong.strip() and not right.strip():
        return 1
    return 2 if " " in wrong + right else 0


class Chosen(NamedTuple):
    """What is proposed for a stretch, and how sure that is."""

    stretch: Stretch
    text: str
    confidence: float


@dataclass(frozen=True)
class Confidence:
    """Trees whose leaves add up to the log odds that a change is right."""

    words: Words
    ngrams: NGrams
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
        words, ngrams = Words.read(folder / WORDS_FILE), NGrams.read(folder / NGRAMS_FILE)
        return cls(words, ngrams, _number(values["start"]), trees)

    def to_json(self) -> str:
        """The trees as ``read`` takes them, one a line, with the features by name."""
        trees = ",\n    ".join(json.dumps(_named(tree)) for tree in self.trees)
        return f'{{\n  "start": {round(self.start, 4)},\n  "trees": [\n    {trees}\n  ]\n}}\n'

    def choose(self, source: str, stretches: Sequence[Stretch]) -> list[Chosen]:
        """The likeliest candidate of each stretch that the network changed; and of each that it did not, where it is
        likelier right than wrong."""
        rated = features(source, stretches, self.words, self.ngrams)
        best: dict[int, tuple[float, str]] = {}
        for odds, each in zip(self.odds([each.features for each in rated]), rated, strict=True):
            if each.stretch not in best or odds > best[each.stretch][0]:
                best[each.stretch] = float(odds), each.text
        return [
            Chosen(stretches[number], text, 1 / (1 + math.exp(-min(max(odds, -50.0), 50.0))))
            for number, (odds, text) in best.items()
            if odds > 0 or stretches[number].is_changed
        ]

    def odds(self, rows: Sequence[Sequence[float]] | np.ndarray) -> np.ndarray:
        """(N,) the logarithm of the odds that each candidate with these features is right."""
        values = np.asarray(rows, float).reshape(-1, len(Features._fields))
        asked, thresholds, leaves = self._arrays
        node, tree = np.zeros((len(values), len(self.trees)), int), np.arange(len(self.trees))
        for _ in range(leaves.shape[1].bit_length() - 1):
            above = np.take_along_axis(values, asked[tree, node], 1) >= thresholds[tree, node]
            node = 2 * node + 1 + above
        return self.start + leaves[tree, node - asked.shape[1]].sum(1)

    @cached_property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All trees of one depth d, in breadth-first order: features and thresholds (trees, 2**d - 1), leaves (trees, 2**d)."""
        depth = max(map(_depth, self.trees), default=0)
        levels = [_level(tree, depth) for tree in self.trees]
        asked = np.array([[question[0] for question in questions] for questions, _ in levels], int)
        thresholds = np.array([[question[1] for question in questions] for questions, _ in levels], float)
        leaves = np.array([values for _, values in levels], float)
        count, nodes = len(self.trees), 2**depth
        return (
            asked.reshape(count, nodes - 1),
            thresholds.reshape(count, nodes - 1),
            leaves.reshape(count, nodes),
        )


def _depth(tree: Tree) -> int:
    return 1 + max(map(_depth, tree[2:])) if isinstance(tree, tuple) else 0


def _level(tree: Tree, depth: int) -> tuple[list[tuple[int, float]], list[float]]:
    """The questions and leaves of a tree, breadth first; a leaf that comes early stands below questions that decide nothing."""
    row, questions = [tree], []
    for _ in range(depth):
        nodes = [node if isinstance(node, tuple) else (0, 0.0, node, node) for node in row]
        questions += [(node[0], node[1]) for node in nodes]
        row = [part for node in nodes for part in node[2:]]
    return questions, row


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
