"""``answers.json``: what looked, what wrote and what mattered over many edits. It holds numbers and no text.

``python -m model heads FILE --out FOLDER --answers N`` writes it; ``answer_sums`` says what the quantities are.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from model.analysis.statistics import Tally
from model.stored.folder import write_atomically
from model.survey.answer_sums import ANSWER
from model.trace.interventions import ATTENTIONS, Node, every_node

ANSWERS_FILE = "answers.json"
_DIGITS = 4


class Mean(NamedTuple):
    """A mean over ``rows`` edits, with half its 95% interval; nan where one sentence alone gives none."""

    mean: np.ndarray
    margin: np.ndarray
    rows: int


class AnswerSurvey:
    """What ``answers.json`` holds, read from its JSON. Raises KeyError, TypeError or ValueError for anything else."""

    def __init__(self, found: dict):
        self.fingerprint: str = found["fingerprint"]  # of the weights alone: ``folder.of_weights``
        self.sentences, self.circuits = int(found["sentences"]), int(found["circuit_sentences"])
        self.kinds: tuple[str, ...] = tuple(found["kinds"])  # of attention
        self.layers, self.heads = map(int, found["shape"])
        self._groups: dict[str, dict] = found["groups"]

    @property
    def groups(self) -> tuple[str, ...]:
        """ "all", the kinds of mistakes, "rule:…", "coda:…" and "copied"."""
        return tuple(self._groups)

    def of(self, group: str, quantity: str) -> Mean | None:
        """None where nothing was measured."""
        each = self._groups.get(group, {}).get(quantity)
        if each is None:
            return None
        mean, margin = (np.array(each[name], float) for name in ("mean", "margin"))
        return Mean(mean, margin, int(each["rows"]))

    def edits(self, group: str) -> int:
        """How many edits, or for "copied" characters, a group has."""
        found = self.of(group, "wrote")
        return found.rows if found else 0

    @cached_property
    def looking(self) -> tuple[Node, ...]:
        """The heads in the order of "looked"."""
        return tuple(
            Node(kind, *place) for kind in self.kinds for place in np.ndindex(self.layers, self.heads)
        )

    @cached_property
    def acting(self) -> tuple[Node, ...]:
        """The parts in the order of "mattered", "direct" and "circuit_members"."""
        return every_node(self.layers, self.heads)

    @cached_property
    def writing(self) -> tuple[Node | str, ...]:
        """The parts in the order of "wrote"; those that are neither head nor feed-forward network by their names."""
        found: list[Node | str] = ["embedding", "position"]
        for layer in range(self.layers):
            found += [Node(kind, layer, head) for kind in ATTENTIONS["decoder"] for head in range(self.heads)]
            found.append(Node("decoder_feed_forward", layer))
        return (*found, "projection_bias", "output_bias")


def as_json(
    tallies: dict[str, Tally],
    fingerprint: str,
    kinds: tuple[str, ...],
    shape: tuple[int, int],
    sentences: int,
    circuits: int,
) -> dict:
    """The sums of a survey in the form that ``AnswerSurvey`` reads."""
    groups: dict[str, dict] = {}
    for name, tally in sorted(tallies.items()):
        start, *rest = name.split("/")
        if start != ANSWER:
            continue
        group, quantity = rest
        found = tally.estimate()
        groups.setdefault(group, {})[quantity] = {
            "mean": plain_numbers(found.mean),
            "margin": plain_numbers(found.margin),
            "rows": found.rows,
        }
    return {
        "fingerprint": fingerprint,
        "sentences": sentences,
        "circuit_sentences": circuits,
        "kinds": list(kinds),
        "shape": list(shape),
        "groups": groups,
    }


def plain_numbers(values: np.ndarray) -> list:
    """Rounded, as lists. JSON knows no nan: a margin that one sentence cannot give is null.

    >>> plain_numbers(np.array([0.12341, np.nan]))
    [0.1234, None]
    """
    rounded = np.round(values, _DIGITS)
    return np.where(np.isfinite(rounded), rounded.astype(object), np.array(None, object)).tolist()


def write_answers(folder: Path, found: dict) -> Path:
    """Write what ``as_json`` made into ``folder``."""
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    write_atomically(folder / ANSWERS_FILE, lambda file: file.write(f"{text}\n".encode()))
    return folder / ANSWERS_FILE
