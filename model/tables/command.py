"""Command ``python -m model correct --csv IN --out OUT``."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click

from model.correction.answers import AnswersMany
from model.tables.correcting import (
    TOGETHER,
    PartialResult,
    ResumableJob,
    TableCounts,
    correct_rows,
    report_writer,
)
from model.tables.reading import count_rows, read_columns, read_rows
from model.tables.rewriting import SAME, SameTable
from model.tables.rows import PROBLEMS, TableError, TableRow

LAYOUTS = ("beside", "in-place", "report")


def correct_table(
    corrector: AnswersMany, source: Path, result: Path, column: str | None, layout: str | None = None
) -> None:
    """Correct a file of texts into another one, with progress; the same command resumes it.

    Args:
        layout: one of LAYOUTS; None for "beside" where the format stays, else "report".

    Raises:
        click.ClickException: where a file cannot be read or written.
    """
    try:
        if result.resolve() == source.resolve():
            raise click.ClickException("IN and OUT should be two files")
        with source.open("rb") as file:
            columns = read_columns(file, source.name, column)
            others = () if columns is None else tuple(map(columns.name, columns.others))
            if columns is not None and columns.chosen is not None:
                click.echo(f"column: {columns.name(columns.chosen)}", err=True)
            suffix = source.suffix.lower()
            is_same = suffix == result.suffix.lower() and suffix in SAME
            if layout in LAYOUTS[:2] and not is_same:
                raise click.ClickException(
                    f"--layout {layout} needs IN and OUT that both end in {' or '.join(SAME)}"
                )
            write = (
                SameTable(file, source.name, column, layout == "in-place").write
                if is_same and layout != "report"
                else report_writer(result, others)
            )
            file.seek(0)
            # Before a part of the result is begun, which a file that cannot be read would leave.
            total = count_rows(file, source.name, column)
            with PartialResult(result, ResumableJob.of(file, column, corrector), write) as part:
                counts = _correct(corrector, read_rows(file, source.name, column), total, part)
                part.finish()
    except (TableError, OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    _tell(counts)


def _correct(
    corrector: AnswersMany, rows: Iterator[TableRow], total: int, part: PartialResult
) -> TableCounts:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    counts = TableCounts()
    for done in part.rows():
        counts.add(done)
    if part.finished:
        click.echo(f"{part.finished:,} rows were finished before", err=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("", total=total, completed=part.finished)
        for done in correct_rows(corrector, islice(rows, part.finished, None)):
            part.add(done)
            counts.add(done)
            if counts.rows % TOGETHER == 0:
                part.flush()
                progress.update(bar, completed=counts.rows)
        progress.update(bar, completed=counts.rows)
    return counts


def _tell(counts: TableCounts) -> None:
    for number, problem in counts.problems:
        click.echo(f"row {number} {PROBLEMS[problem]}", err=True)
    if counts.bad > len(counts.problems):
        click.echo(f"and {counts.bad - len(counts.problems):,} more rows", err=True)
    kinds = ", ".join(f"{kind} {number:,}" for kind, number in counts.by_kind().items())
    click.echo(f"{counts.rows:,} rows, {counts.changed:,} changed, {counts.bad:,} bad; {kinds}", err=True)
