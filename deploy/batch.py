"""Batch job on a Ray cluster: corrections of a file's texts, or effects of all heads.

    python -m deploy.batch texts.csv --out FOLDER [--address auto]
    python -m deploy.batch texts.txt --out FOLDER --heads

The rows are cut into numbered parts. A part is done as a whole, on any node. This process writes its result
to a file of its own in FOLDER/parts, which is there whole or not at all. If a node is lost, its parts are
done again. If this process is lost, the same command continues with the missing parts. No row is lost or
counted twice. The nodes need the same repository and the model's folder, both at the same path.
"""

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from operator import methodcaller
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import click

from engine.client import model_key
from model.correction.answers import Network
from model.stored.folder import (
    DEFAULT_MODEL,
    ModelFolderError,
    find_model_folder,
    model_name,
    read_config,
    write_atomically,
)
from model.survey.sums import readable
from model.survey.survey import Survey, SurveyPlan, made_pairs
from model.survey.survey_files import write_result
from model.tables.correcting import CorrectedRow, TableCounts, correct_rows, write_csv
from model.tables.reading import read_columns, read_rows
from model.tables.rows import TableError, TableRow
from training.options import command, knob

ROOT = Path(__file__).resolve().parents[1]
RESULT = "corrected.csv"
TOGETHER = 64  # rows of a part that are corrected at once


@dataclass(frozen=True)
class BatchSettings:
    """The options of the command that decide the result."""

    heads: bool = knob(False, "What each head does, instead of corrections.", is_flag=True)
    effects: int = knob(10, "With --heads: how many sentences of a part are read again without each head.")
    column: str | None = knob(
        None, "Its header, or its number from 1. [default: text, src, 문장 …, or the only one]"
    )
    rows: int = knob(1000, "Rows in one part.", type=click.IntRange(min=1))
    model: str = knob(DEFAULT_MODEL, "A folder in assets/, or a path.")


@dataclass(frozen=True)
class BatchJob(BatchSettings):
    """The job whose parts a folder holds; another job needs another folder. ``model`` is its whole path."""

    sha256: str = ""  # of the file
    fingerprint: str = ""  # of the model

    @classmethod
    def of(cls, file: Path, asked: BatchSettings) -> "BatchJob":
        """Raises:
        ModelFolderError: unreadable files.
        """
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        key = model_key(find_model_folder(asked.model))
        return cls(**vars(asked) | {"model": key.path, "sha256": digest, "fingerprint": key.fingerprint})


def finished_parts(folder: Path, job: BatchJob) -> Path:
    """The folder of the finished parts of ``job``, a file each (``part_file``); it is made where it lacks.

    Raises click.ClickException where ``folder`` holds the parts of another job.
    """
    parts, note = folder / "parts", folder / "job.json"
    parts.mkdir(parents=True, exist_ok=True)
    if not note.exists():
        write_atomically(note, lambda file: file.write(json.dumps(asdict(job)).encode()))
    elif json.loads(note.read_text()) != asdict(job):
        raise click.ClickException(f"{folder} holds the work on another file, or by other settings")
    return parts


def part_file(parts: Path, number: int) -> Path:
    """The file of a finished part.

    >>> part_file(Path("parts"), 3).name
    '0000003'
    """
    return parts / f"{number:07}"


class Work:
    """Does parts on a node, one after the other; the model stays in memory."""

    def __init__(self, job: BatchJob):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        from model import Corrector

        self._corrector, self._job = Corrector.load(job.model), job

    def __call__(self, part: dict) -> dict:
        """{part, result} of {part, rows}: the number, and bytes."""
        rows = [TableRow(*row) for row in json.loads(part["rows"])]
        result = self._heads(rows) if self._job.heads else self._corrections(rows)
        return {"part": part["part"], "result": result}

    def _corrections(self, rows: list[TableRow]) -> bytes:
        done = correct_rows(self._corrector, rows, TOGETHER)
        lines = ([*each.row, each.corrected, each.kinds] for each in done)
        return "".join(json.dumps(line) + "\n" for line in lines).encode()

    def _heads(self, rows: list[TableRow]) -> bytes:
        pairs = readable(made_pairs([row.text for row in rows], self._corrector), self._corrector)
        survey = Survey(self._corrector, SurveyPlan(pairs, self._job.effects, pruning=0))
        for _ in survey.run():
            pass
        return json.dumps(pairs).encode() + b"\n" + survey.packed()


def parts_of(file: Path, job: BatchJob) -> Iterator[tuple[int, list[TableRow]]]:
    """(number, rows) of every part. Raises TableError for a file that cannot be read."""
    with file.open("rb") as opened:
        rows = read_rows(opened, file.name, job.column)
        yield from enumerate(iter(lambda: list(islice(rows, job.rows)), []))


def do(
    file: Path,
    job: BatchJob,
    parts: Path,
    told: Callable[[int, int], object] = lambda done, total: None,
) -> int:
    """Compute the missing parts and return their number; ``told`` is called after each.

    Ray has to be initialised. The rows wait in its memory on this machine, so no node that goes takes any
    along.
    """
    import pyarrow
    import ray
    from ray.data import ActorPoolStrategy, from_arrow_refs

    waiting: list[Any] = []  # references to Ray's memory
    total, work = 0, cast(Any, Work)
    for number, rows in parts_of(file, job):
        total += 1
        if not part_file(parts, number).exists():
            table = pyarrow.table({"part": [number], "rows": [json.dumps(rows)]})
            waiting.append(ray.put(table))
    told(total - len(waiting), total)
    if not waiting:
        return total
    actors = ActorPoolStrategy(min_size=1, max_size=max(1, len(waiting)))
    results = from_arrow_refs(waiting).map(work, fn_constructor_args=(job,), compute=actors, num_cpus=1)
    for done, result in enumerate(results.iter_rows(), start=total - len(waiting) + 1):
        write_atomically(part_file(parts, result["part"]), methodcaller("write", result["result"]))
        told(done, total)
    return total


def write_corrections(parts: Path, total: int, folder: Path, others: Sequence[str]) -> str:
    """Write all rows in order as one CSV file with the ``others`` of the columns; returns a sentence."""
    counts = TableCounts()

    def rows() -> Iterator[CorrectedRow]:
        for number in range(total):
            for line in part_file(parts, number).read_bytes().splitlines():
                row, text, problem, kept, corrected, kinds = json.loads(line)
                done = CorrectedRow(TableRow(row, text, problem, tuple(kept)), corrected, tuple(kinds))
                counts.add(done)
                yield done

    write_atomically(folder / RESULT, lambda file: write_csv(file, rows(), others=others))
    return f"{counts.rows:,} rows, {counts.changed:,} changed, {counts.bad:,} bad: {folder / RESULT}"


def write_heads(parts: Path, total: int, folder: Path, job: BatchJob) -> str:
    """Write ``heads.json`` and ``heads.csv``, as of ``python -m model heads`` without pruning."""
    path = Path(job.model)
    described = SimpleNamespace(name=model_name(path), fingerprint=job.fingerprint, config=read_config(path))
    network = cast(Network, described)  # a finished survey asks for nothing else
    whole = Survey(network, SurveyPlan((), job.effects, pruning=0))
    for number in range(total):
        pairs, _, data = part_file(parts, number).read_bytes().partition(b"\n")
        part = Survey(network, SurveyPlan(tuple(map(tuple, json.loads(pairs))), job.effects, pruning=0))
        part.unpack(data)
        whole.join(part)
    return f"{whole.done['roles']:,} sentences: {write_result(whole, folder)}"


@command("main", asked=BatchSettings)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="A folder.")
@click.option(
    "--address", default="local", show_default=True, help="Address of Ray; auto finds a running cluster."
)
def main(file: Path, out: Path, address: str, asked: BatchSettings) -> None:
    """Correct the texts of FILE (CSV, TXT, XLSX), or measure the effects of heads over them.

    The same command goes on where it was stopped. All nodes need this repository at the same place.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
    import ray
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    try:
        job = BatchJob.of(file, asked)
        parts = finished_parts(out, job)
        environment = {"env_vars": {"PYTHONPATH": str(ROOT)}}
        ray.init(address, runtime_env=environment, log_to_driver=False, logging_level=logging.WARNING)
        with Progress(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()) as progress:
            bar = progress.add_task("")
            total = do(file, job, parts, lambda done, of: progress.update(bar, completed=done, total=of))
        with file.open("rb") as opened:
            columns = read_columns(opened, file.name, asked.column)
    except (OSError, TableError, ModelFolderError) as error:
        raise click.ClickException(str(error)) from error
    if asked.heads:
        click.echo(write_heads(parts, total, out, job))
    else:
        others = () if columns is None else tuple(map(columns.name, columns.others))
        click.echo(write_corrections(parts, total, out, others))


if __name__ == "__main__":
    main()
