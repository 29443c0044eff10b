"""What the shipped model's folder tells about it, read without loading the network."""

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parents[1] / "assets" / "transformer"


@dataclass(frozen=True)
class ModelCard:
    """``evaluation`` and ``history`` are None where the folder does not hold them."""

    config: dict
    parameters: int
    evaluation: dict | None
    history: pd.DataFrame | None


def read_card(folder: Path) -> ModelCard | None:
    """The card of a model folder; None where its config or its weights are missing or unreadable."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        with np.load(folder / "weights.npz", allow_pickle=False) as weights:
            parameters = sum(weights[name].size for name in weights.files)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None
    evaluation, history = folder / "evaluation.json", folder / "history.csv"
    return ModelCard(
        config,
        parameters,
        json.loads(evaluation.read_text("utf-8")) if evaluation.exists() else None,
        pd.read_csv(history) if history.exists() else None,
    )


def evaluation_table(evaluation: dict) -> pd.DataFrame:
    """One row for each family of errors, and "all" for all of them; NaN is the share of nothing."""
    rows = {**evaluation["families"], "all": evaluation["total"]}
    columns = [
        "count",
        "exact_match",
        "cer_before",
        "cer_after",
        "precision",
        "recall",
        "f0.5",
        "clean_untouched",
    ]
    table = pd.DataFrame.from_dict(rows, orient="index")[columns].astype(float)
    if "clean" in table.index:  # where nothing is wrong no edit can be right: the share says nothing
        table.loc["clean", ["precision", "f0.5"]] = float("nan")
    return table
