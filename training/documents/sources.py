"""Where the documents' numbers come from: the files of the shipped models, and those of ``docs/numbers``."""

import json
from functools import cached_property
from pathlib import Path

from model.stored.config import TransformerConfig
from model.stored.folder import ASSETS, fingerprint, of_weights, read_config
from model.survey.answer_file import ANSWERS_FILE, AnswerSurvey
from model.survey.corpus_agreement import AGREEMENT_FILE
from model.survey.head_survey import HEADS_FILE, HeadSurvey
from training.run.record import read_runs


class MissingNumbersError(Exception):
    """A data file is not there; the message names it."""


class Sources:
    """What was measured. ``root`` holds the documents, ``model`` is the shipped model's folder.

    >>> Sources().config.num_heads
    4
    """

    def __init__(self, root: Path = ASSETS.parent, model: Path = ASSETS / "transformer"):
        self.root, self.model = root, model
        self.numbers = root / "docs" / "numbers"

    def measured(self, name: str) -> dict:
        """A file of ``docs/numbers``, by its path there without ``.json``. Raises MissingNumbersError."""
        return _read(self.numbers / f"{name}.json")

    def evaluation(self, model: str | None = None) -> dict:
        """What ``evaluation.json`` says of the development sentences, for the shipped model or one beside it."""
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
        """The fingerprint of the shipped weights alone."""
        return of_weights(fingerprint(self.model))

    @cached_property
    def name(self) -> str:
        """What these weights are called."""
        return self.measured("weights")["name"]

    @property
    def runs(self) -> list[dict]:
        """The trainings that the shipped weights went through."""
        return read_runs(self.model)

    @cached_property
    def survey(self) -> HeadSurvey:
        return HeadSurvey(_read(self.model / HEADS_FILE))

    @cached_property
    def answers(self) -> AnswerSurvey:
        """What looked, wrote and mattered over many edits."""
        return AnswerSurvey(_read(self.model / ANSWERS_FILE))

    @cached_property
    def agreement(self) -> dict:
        return _read(self.model / AGREEMENT_FILE)


def _read(path: Path) -> dict:
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise MissingNumbersError(f"{path} is missing: python -m training ship makes it") from error
