"""Data files of the documents' numbers: those of the shipped models, and those of ``docs/numbers``."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from model.stored.config import TransformerConfig
from model.stored.folder import ASSETS, fingerprint, of_weights, read_config
from model.survey.results import ANSWERS_FILE, HEADS_FILE, AnswerSurvey, HeadSurvey
from training.run.record import read_runs


class MissingNumbersError(Exception):
    """A data file is not there; the message names it."""


class Sources:
    """All measured numbers by name.

    Args:
        root: Folder with the documents and ``docs/numbers``.
        model: Folder of the shipped model.
        given: Contents in place of files of ``docs/numbers``, by their names.

    Example:
        >>> Sources().config.num_heads
        4
        >>> Sources(given={"attention": {"edits": 3}}).measured("attention")
        {'edits': 3}
    """

    def __init__(
        self,
        root: Path = ASSETS.parent,
        model: Path = ASSETS / "transformer",
        given: Mapping[str, dict] | None = None,
    ):
        self.root, self.model, self.given = root, model, given or {}
        self.numbers = root / "docs" / "numbers"

    def measured(self, name: str) -> dict:
        """A file of ``docs/numbers``, by its path there without ``.json``. Raises MissingNumbersError."""
        return self.given[name] if name in self.given else _read(self.numbers / f"{name}.json")

    def evaluation(self, model: str | None = None) -> dict:
        """The development sentences' ``evaluation.json`` of the shipped model, or of one beside it. Raises MissingNumbersError."""
        folder = self.model if model is None else self.model.parent / model
        return _read(folder / "evaluation.json")

    @cached_property
    def config(self) -> TransformerConfig:
        """The shape of the shipped network. Raises TypeError where it is no Transformer."""
        config = read_config(self.model)
        if not isinstance(config, TransformerConfig):
            raise TypeError(f"{self.model} should hold a Transformer, received {config.architecture}")
        return config

    @cached_property
    def weights(self) -> str:
        """The fingerprint of the shipped weights alone, 12 hexadecimal digits."""
        return of_weights(fingerprint(self.model))

    @cached_property
    def name(self) -> str:
        """The name of these weights, such as "run 61". Raises MissingNumbersError."""
        return self.measured("weights")["name"]

    @property
    def called(self) -> str:
        """Name and minimum confidence of the shipped weights, as tables name them: "run 61; 0.8"."""
        return f"{self.name}; {self.evaluation()['minimum_confidence']:g}"

    @property
    def parameters(self) -> int:
        """How many numbers the shipped network has."""
        with np.load(self.model / "weights.npz") as arrays:
            return sum(arrays[name].size for name in arrays.files)

    def megabytes(self, name: str) -> float:
        """The size of a file of the shipped model, in MB of 10^6 bytes. Raises FileNotFoundError."""
        return (self.model / name).stat().st_size / 1e6

    def taken(self, quantity: str) -> float:
        """The sum of ``quantity`` ("pairs", "seconds") over all trainings of the shipped weights."""
        return sum(run["taken"][quantity] for run in read_runs(self.model))

    @cached_property
    def survey(self) -> HeadSurvey:
        """Roles and effects of the heads: ``heads.json``. Raises MissingNumbersError."""
        return HeadSurvey(_read(self.model / HEADS_FILE))

    @cached_property
    def answers(self) -> AnswerSurvey:
        """Attention, attribution and ablation over many edits: ``answers.json``. Raises MissingNumbersError."""
        return AnswerSurvey(_read(self.model / ANSWERS_FILE))


def _read(path: Path) -> dict:
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise MissingNumbersError(f"{path} is missing: python -m training ship makes it") from error
