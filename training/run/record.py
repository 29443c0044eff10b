"""What a run leaves beside its weights: ``run.json`` (how it was trained) and ``history.csv`` (how it went).

A run that starts from another model continues that model's record, so the files beside a shipped
model tell everything since the first step from nothing.
"""

import csv
import io
import json
import os
import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from model.stored.folder import write_atomically

RUN_FILE, HISTORY_FILE = "run.json", "history.csv"
COLUMNS = ("step", "loss", "learning_rate", "dev_loss", "dev_token_accuracy", "pairs", "seconds")
CUMULATIVE = ("step", "pairs", "seconds")


def hardware() -> dict:
    """Processor and library versions of this process; nothing that names the machine itself."""
    import keras

    return {
        "processor": platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
        "keras": version("keras"),
        "backend": keras.backend.backend(),
    }


def read_history(folder: Path) -> list[dict[str, str]]:
    """The rows of a model's ``history.csv``; none where it has no such file."""
    path = folder / HISTORY_FILE
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_runs(folder: Path) -> list[dict]:
    """The trainings a model went through, the first one first; none where they are not known."""
    path = folder / RUN_FILE
    return json.loads(path.read_text("utf-8"))["runs"] if path.exists() else []


@dataclass(frozen=True)
class Past:
    """The record of the model a run starts from."""

    runs: tuple[dict, ...] = ()
    rows: tuple[dict[str, str], ...] = ()

    @classmethod
    def read(cls, folder: Path) -> "Past":
        """The record up to the model's weights. Later rows are left out, because a run writes rows more often than weights."""
        runs, rows = read_runs(folder), read_history(folder)
        steps = sum(run["taken"]["steps"] for run in runs)
        return cls(tuple(runs), tuple(row for row in rows if int(row["step"]) <= steps))

    def total(self, column: str) -> float:
        """How many steps, pairs or seconds had passed before."""
        return float(self.rows[-1][column]) if self.rows else 0.0


class Record:
    """Writes the two files of one run. Its own steps, pairs and seconds count from where ``past`` ended."""

    def __init__(self, folder: Path, past: Past):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.past = folder, past

    def write_run(self, run: dict) -> None:
        """``run``: plain data that describes this run."""
        text = json.dumps({"runs": [*self.past.runs, run]}, indent=2, ensure_ascii=False) + "\n"
        write_atomically(self.folder / RUN_FILE, lambda file: file.write(text.encode()))

    def open_history(self, step: int) -> None:
        """Keep the rows up to this run's ``step``: later ones are about to be repeated."""
        limit = self.past.total("step") + step
        begun = read_history(self.folder) or list(self.past.rows)
        kept = [row for row in begun if int(row["step"]) <= limit]
        buffer = io.StringIO(newline="")
        writer = csv.DictWriter(buffer, COLUMNS)
        writer.writeheader()
        writer.writerows(kept)
        write_atomically(self.folder / HISTORY_FILE, lambda file: file.write(buffer.getvalue().encode()))

    def add(self, **row) -> None:
        """One row of ``COLUMNS``, counted within this run."""
        for column in CUMULATIVE:
            row[column] += type(row[column])(self.past.total(column))
        with open(self.folder / HISTORY_FILE, "a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, COLUMNS).writerow(row)
