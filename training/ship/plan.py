"""What is shipped, where it goes and how much is measured: the options of ``python -m training ship``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from model.stored.folder import ASSETS
from training.run.knobs import knob

SHARE = click.FloatRange(0, 1)
ROOT = ASSETS.parent  # of the repository: the benchmarks and documents lie there


def _folder(default: str | Path, help: str) -> Any:
    # Resolved, because the commands of the steps run in the repository's folder.
    kind = click.Path(file_okay=False, path_type=Path, resolve_path=True)
    return knob(Path(default), help, type=kind)


def _size(default: int, help: str) -> Any:
    return knob(default, help, type=click.IntRange(min=0))


@dataclass(frozen=True)
class ShipPlan:
    """The settings of one shipping. The default sizes are those of the shipped measurements; a rehearsal takes smaller ones."""

    corpus: Path = _folder("corpus", "Holds train.jsonl, train2.jsonl, dev.jsonl and test.jsonl.")  # noqa: RUF009
    last: int | None = knob(
        None, "Ship the mean of the run's last so many snapshots.", type=click.IntRange(min=2)
    )
    other: str | None = knob(None, "Ship an average with this model.", option="--with", metavar="MODEL")
    share: tuple[float, ...] = knob(
        (), "The run's share in it [0.5]; of several the best is chosen.", multiple=True, type=SHARE
    )
    name: str = knob("", "What the documents call these weights, as 'run 58'. [default: the run's name]")
    minimum: str = knob("keep", "Minimum confidence: keep, choose, or a number.", metavar="HOW")
    into: Path = _folder(ASSETS / "transformer", "The model folder that is shipped.")  # noqa: RUF009
    documents: Path = _folder(ROOT, "Holds README.md, docs and benchmarks.")  # noqa: RUF009
    seeds: int = _size(3, "Confidence: errors made for each sentence.")
    drill: int = _size(9000, "Confidence: phrases with a native mistake.")
    space_drill: int = _size(3000, "Confidence: phrases with a misplaced space.")
    names: int = _size(6000, "Confidence: sentences with a made-up name.")
    practised: int = _size(15000, "Confidence: pairs of the practices.")
    intact: int = _size(9000, "Confidence: right sentences of the training text.")
    effects: int = _size(377, "Heads: pairs in which each head is removed in turn.")
    pruning: int = _size(408, "Heads: pairs judged as more and more heads are removed.")
    head_pairs: int = _size(0, "Heads: only the first so many pairs; 0 takes all.")
    edits: int = _size(1000, "Attention: edits in which each character is left out in turn.")
    edit_sentences: int = _size(1500, "Attention: sentences in which errors are made for them.")
    answers: int = _size(416, "Answers: sentences of which it is asked who wrote each fix.")
    circuits: int = _size(100, "Answers: of them, those whose circuits are found.")
    heard: int = _size(800, "Heard: pairs; half of them fit the probes.")
    heard_edits: int = _size(300, "Heard: edits that are asked without what is heard.")
    rows: int = _size(0, "Evaluation: only so many rows of each file; 0 takes all.")
    set_rows: int = _size(500, "Sets: sentences with an error in each.")
    samples: int = _size(1000, "Intact: sentences to make.")
    snapshot_rows: int = _size(1500, "Snapshots of growing-up: rows to measure each on.")

    def __post_init__(self) -> None:
        if self.last is not None and self.other is not None:
            raise ValueError("--last and --with are two ways to average: give one of them")
        if self.minimum not in ("keep", "choose") and not 0 <= float(self.minimum) <= 1:
            raise ValueError(f"--minimum is keep, choose or a number from 0 to 1, received {self.minimum}")

    @property
    def numbers(self) -> Path:
        """Where the measurements lie that the app does not read."""
        return self.documents / "docs" / "numbers"
