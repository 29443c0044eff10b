"""The result of a survey of heads as arrays, from ``heads.json`` or from a survey that is still running.

L layers, H heads, D d_model. Roles and what was written are observed; effects come from passes in which one head was off.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from model.analysis.roles import COPIED, ROLES, leading_role
from model.stored.folder import ModelFolderError
from model.trace.interventions import Head

HEADS_FILE = "heads.json"


class HeadMeans(NamedTuple):
    """A mean of each head, half the width of its 95% interval, and over how many rows; nan where nothing is known."""

    mean: np.ndarray  # (L, H) float64
    margin: np.ndarray  # (L, H) float64
    rows: int
    chance: float | None = None  # of a role: its mean in a head that looks evenly at all it may see


class HeadSurvey:
    """Raises KeyError, TypeError or ValueError for what is no result of a survey."""

    def __init__(self, found: dict):
        self.fingerprint: str = found["fingerprint"]  # of the weights alone: ``folder.of_weights``
        self.kinds: tuple[str, ...] = tuple(found["kinds"])
        self.sentences, self.effect_sentences = int(found["sentences"]), int(found["effect_sentences"])
        self.judged, self.judged_right = int(found["pruning_sentences"]), int(found["pruning_right"])
        self.overlap = int(found["pruning_overlap"])
        self.pruning: dict[str, list[list[float]]] = found["pruning"]
        self._roles = {
            (kind, role, name): _measured(each)
            for kind in self.kinds
            for role, classes in found["roles"].get(kind, {}).items()
            for name, each in classes.items()
        }
        self._effects = {
            (kind, name): _measured(each)
            for kind, effects in found["effects"].items()
            for name, each in effects.items()
        }
        self.answer_sentences = int(found.get("answer_sentences", 0))  # 0 where that was not asked
        self._written = {
            (kind, name): _measured(each)
            for kind, classes in found.get("written", {}).items()
            for name, each in classes.items()
        }
        self._examples, self._shown = found["examples"], found["sentences_shown"]
        # (L, H, D/H)
        self.means = {kind: np.array(each, np.float32) for kind, each in found["means"].items()}

    @cached_property
    def shape(self) -> tuple[int, int]:
        """(L, H) of each kind of attention; (0, 0) where nothing is measured yet."""
        return next((each.mean.shape for each in self._roles.values()), (0, 0))

    @property
    def heads(self) -> list[Head]:
        return [Head(kind, *place) for kind in self.kinds for place in np.ndindex(self.shape)]

    def role(self, kind: str, role: str, name: str) -> HeadMeans | None:
        """How much heads of a kind play a role at rows of a class; None where no row could show it."""
        return self._roles.get((kind, role, name))

    def effect(self, kind: str, name: str) -> HeadMeans | None:
        """What taking each head away changes, in nats: "edited", "copied" or "loss"; None where that is not measured."""
        return self._effects.get((kind, name))

    def written(self, kind: str, name: str) -> HeadMeans | None:
        """What heads of a kind add to the score of a fix, or of a copied character, in nats; None where that was not asked, and of
        the encoder's heads, which write nothing into the answer themselves."""
        return self._written.get((kind, name))

    def leading(self, head: Head, name: str = COPIED) -> str:
        """The role that the head plays most at rows of a class, ``roles.leading_role``."""
        known = {role: each for role in ROLES if (each := self.role(head.kind, role, name)) is not None}
        means = {role: float(each.mean[head.layer, head.head]) for role, each in known.items()}
        return leading_role(
            means, {role: each.chance for role, each in known.items() if each.chance is not None}
        )

    def leading_roles(self, name: str = COPIED) -> dict[str, list[list[str]]]:
        """By kind, for each layer the leading role of each head."""
        layers, heads = self.shape
        return {
            kind: [
                [self.leading(Head(kind, layer, head), name) for head in range(heads)]
                for layer in range(layers)
            ]
            for kind in self.kinds
        }

    def example(self, head: Head, role: str) -> tuple[str, int] | None:
        """The sentence, as it was typed, in which the head plays the role most, and the row there."""
        grid = self._examples.get(head.kind, {}).get(role)
        if grid is None:
            return None
        place, row = grid[head.layer][head.head]
        return self._shown[place][0], row


def _measured(each: dict) -> HeadMeans:
    mean, margin = (np.array(each[name], float) for name in ("mean", "margin"))
    if mean.ndim != 2 or mean.shape != margin.shape:
        raise ValueError(f"a mean of heads should be (L, H), received {mean.shape} and {margin.shape}")
    chance = each.get("chance")
    return HeadMeans(mean, margin, int(each["rows"]), None if chance is None else float(chance))


def read_head_survey(folder: Path) -> HeadSurvey | None:
    """The survey that lies in a model folder; None where there is none. Raises ModelFolderError for a damaged file."""
    path = folder / HEADS_FILE
    if not path.is_file():
        return None
    try:
        return HeadSurvey(json.loads(path.read_text("utf-8")))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise ModelFolderError(f"{path} is no survey of heads: {error!r}") from error
