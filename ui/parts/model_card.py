"""Model card: sizes, scores and training of a model, read without loading the network."""

import json
import math
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

SCORES = (
    "count",
    "exact_match",
    "cer_before",
    "cer_after",
    "cer_reduction",
    "precision",
    "recall",
    "f0.5",
    "clean_untouched",
)
T = TypeVar("T")


@dataclass(frozen=True)
class ModelCard:
    """``runs`` are the trainings the model went through, the first one first. ``evaluation``, ``history``,
    ``snapshots`` and ``losses`` are None where the folder does not hold them."""

    config: dict
    parameters: int
    evaluation: dict | None
    history: pd.DataFrame | None
    runs: tuple[dict, ...]
    snapshots: pd.DataFrame | None  # a row for each, with its scores
    losses: pd.DataFrame | None  # a row for each run and each average on the way: run, dev_loss and more
    knows_words: bool  # whether its confidence counts words, too (``model/correction/confidence.py``)

    @property
    def learned(self) -> tuple[int, float] | None:
        """How many pairs the network has learned from, and in how many seconds; None where nothing was
        recorded."""
        if self.history is None:
            return None
        rows = self.history.reindex(columns=["pairs", "seconds"]).dropna()  # the last row may be half written
        return (int(rows["pairs"].iloc[-1]), float(rows["seconds"].iloc[-1])) if len(rows) else None


def read_card(folder: Path) -> ModelCard | None:
    """The card of a model folder; None where its config or its weights are missing or unreadable. An OSError
    or a ValueError of another file leaves its field None."""
    config = _read(folder / "config.json", _read_json)
    parameters = _read(folder / "weights.npz", _count_parameters)
    if config is None or parameters is None:
        return None
    return ModelCard(
        config,
        parameters,
        _read(folder / "evaluation.json", _read_json),
        _read(folder / "history.csv", pd.read_csv),
        tuple((_read(folder / "run.json", _read_json) or {}).get("runs", ())),
        _read(folder / "snapshots.csv", pd.read_csv),
        _read(folder / "runs.csv", partial(pd.read_csv, usecols=["run", "dev_loss"])),
        (folder / "confidence.json").is_file(),
    )


def _read(path: Path, reader: Callable[[Path], T]) -> T | None:
    """None where the file is missing or damaged; of a training that is going on, it may still be empty."""
    try:
        return reader(path)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None


def _read_json(path: Path) -> dict:
    return json.loads(path.read_text("utf-8"))


def _count_parameters(path: Path) -> int:
    """From the shapes alone: unpacking ten megabytes to count them took most of the time of a page."""
    with zipfile.ZipFile(path) as archive:
        return sum(math.prod(_shape(archive, name)) for name in archive.namelist())


def _shape(archive: zipfile.ZipFile, name: str) -> tuple[int, ...]:
    with archive.open(name) as part:
        version = np.lib.format.read_magic(part)
        if version != (1, 0):  # the version of plain arrays; later ones are for huge headers
            raise ValueError(f"{name} should be an array of .npy version 1.0, received {version}")
        return np.lib.format.read_array_header_1_0(part)[0]


def _score_table(rows: Mapping[str, dict]) -> pd.DataFrame:
    """One row for each set of scores, the columns of SCORES; NaN is the share of nothing."""
    table = pd.DataFrame.from_dict(rows, orient="index").reindex(columns=SCORES).astype(float)
    if "clean" in table.index:  # where nothing is wrong no edit can be right: the share says nothing
        table.loc["clean", ["precision", "f0.5"]] = float("nan")
    return table


def comparison_table(cards: Mapping[str, ModelCard]) -> pd.DataFrame:
    """One row for each card with an evaluation: how large the network is, how many pairs it has learned from,
    and its total scores."""
    totals = {name: card.evaluation["total"] for name, card in cards.items() if card.evaluation}
    table = _score_table(totals).drop(columns=["count", "cer_before"])
    compared = [cards[name] for name in totals]
    table.insert(0, "parameters", [card.parameters for card in compared])
    table.insert(1, "pairs", [card.learned[0] if card.learned else np.nan for card in compared])
    return table


def snapshot_table(snapshots: pd.DataFrame) -> pd.DataFrame:
    """One row for each snapshot, by its training step."""
    columns = ("pairs", "exact_match", "cer_after", "f0.5", "clean_untouched")
    return snapshots.set_index("step").reindex(columns=columns)


def family_table(evaluation: dict) -> pd.DataFrame:
    """One row for each family of errors, and "all" for all of them. Raises KeyError for an evaluation without
    families."""
    return _score_table({**evaluation["families"], "all": evaluation["total"]})


def threshold_table(evaluation: dict) -> pd.DataFrame:
    """One row for each minimum confidence, by its number; a sentence has the same errors before in all.
    Raises KeyError for an evaluation without thresholds."""
    rows = {row["minimum_confidence"]: row for row in evaluation["thresholds"]}
    return _score_table(rows).drop(columns=["count", "cer_before"])


def reliability_bins(evaluation: dict) -> pd.DataFrame:
    """One row for each bin of confidence, with the columns of ``viz.reliability_curve``. Raises KeyError for
    an evaluation without bins."""
    names = {"from": "low", "to": "high", "changes": "count", "right": "share_right"}
    return pd.DataFrame(evaluation["reliability"]["bins"]).rename(columns=names)


def were_asked_the_same(evaluations: list[dict | None]) -> bool:
    """Whether these are several evaluations of the same sentences with the same errors.

    >>> one = {"file": "pairs.tsv", "seed": 1, "sentences": 500}
    >>> were_asked_the_same([one, one]), were_asked_the_same([one, one | {"seed": 2}])
    (True, False)
    """
    asked = {
        None if each is None else tuple(each.get(name) for name in ("file", "seed", "sentences"))
        for each in evaluations
    }
    return len(evaluations) > 1 and len(asked) == 1 and None not in asked
