"""Corrects a visitor's file of many texts, row by row."""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING

from model.tables import Columns, CorrectedRow, TableCounts, TableRow, read_columns, read_rows
from ui.asking.jobs import MOST_CHARACTERS, Job, Jobs, at_most

if TYPE_CHECKING:
    from ui.asking.loaders import EngineCorrector

MOST_ROWS = 10_000  # of one file; the command takes any number
TOGETHER = 48  # rows of one question; other visitors' questions are answered between two of these


class TableJob(Job):
    """One file. ``done`` grows while a thread corrects it; reading it needs no lock."""

    def __init__(self, rows: list[TableRow], corrector: EngineCorrector):
        self.rows, self.counts = rows, TableCounts()
        self.done: list[CorrectedRow] = []
        self.started = time.monotonic()
        super().__init__(corrector)

    @property
    def is_over(self) -> bool:
        return len(self.done) == len(self.rows) or self.error is not None

    @property
    def seconds_left(self) -> float | None:
        """An estimate from the pace so far; None at the beginning."""
        count = len(self.done)
        return (time.monotonic() - self.started) / count * (len(self.rows) - count) if count else None

    def work(self) -> None:
        for first in range(0, len(self.rows), TOGETHER):
            batch = self.rows[first : first + TOGETHER]
            texts = tuple(row.text for row in batch if row.problem is None)
            answers = iter(self.ask("table", texts) if texts else ())
            for row in batch:
                done = CorrectedRow(row, "", ()) if row.problem else CorrectedRow(row, *next(answers))
                self.counts.add(done)
                self.done.append(done)


def tables() -> Jobs[TableJob]:
    """Jobs that raise model.tables.TableError for a file that is no table, and TooManyRowsError."""
    return Jobs(lambda content, name, corrector, column: TableJob(_rows(content, name, column), corrector))


def columns_of(content: bytes, name: str) -> Columns | None:
    """The columns of a file that a visitor has dropped; None for a TXT file. Raises TableError for what is no table."""
    return read_columns(io.BytesIO(content), name)


def _rows(content: bytes, name: str, column: str | None) -> list[TableRow]:
    return [
        row if len(row.text) <= MOST_CHARACTERS else TableRow(row.number, "", "too_long", row.others)
        for row in at_most(read_rows(io.BytesIO(content), name, column), MOST_ROWS)
    ]
