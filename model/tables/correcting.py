"""Rows corrected a few hundred at a time, with the kinds of their errors counted."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from model.analysis.kinds import KINDS, kinds_of
from model.correction.answers import AnswersMany
from model.correction.correction import Correction
from model.tables.reading import TableRow

AND = "+"  # between the kinds of one change: "spacing+sound"
TOGETHER = 256  # rows: texts of alike lengths among them are corrected in one batch


class CorrectedRow(NamedTuple):
    """A row and what became of it. ``kinds`` has one word for each change, in their order: its kind, or both of them
    with AND between. A bad row has none, and its ``corrected`` is empty."""

    row: TableRow
    corrected: str
    kinds: tuple[str, ...]


@dataclass
class TableCounts:
    """What was counted in all rows so far."""

    rows: int = 0
    changed: int = 0
    kinds: Counter = field(default_factory=Counter)  # changes by model.analysis.kinds.KINDS; of two, by both
    problems: list[tuple[int, str]] = field(default_factory=list)  # the first ones' (row number, problem)
    bad: int = 0

    def add(self, done: CorrectedRow, most_problems: int = 1000) -> None:
        self.rows += 1
        self.changed += bool(done.kinds)
        self.kinds.update(kind for kinds in done.kinds for kind in kinds.split(AND))
        if done.row.problem is not None:
            self.bad += 1
            if len(self.problems) < most_problems:
                self.problems.append((done.row.number, done.row.problem))

    def by_kind(self) -> dict[str, int]:
        """Every kind with its number, 0 included, in the order of KINDS."""
        return {kind: self.kinds[kind] for kind in KINDS}


def correct_rows(
    corrector: AnswersMany, rows: Iterable[TableRow], together: int = TOGETHER
) -> Iterator[CorrectedRow]:
    """Each row corrected, in order. ``together`` rows are corrected at once. So the first answer comes after that many, and a caller
    that stops early loses at most the work of that many."""
    rows = iter(rows)
    while batch := list(islice(rows, together)):
        readable = [row.text for row in batch if row.problem is None]
        corrections = iter(corrector.correct_batch(readable) if readable else ())
        for row in batch:
            yield CorrectedRow(row, "", ()) if row.problem else _corrected(row, next(corrections))


def _corrected(row: TableRow, correction: Correction) -> CorrectedRow:
    return CorrectedRow(row, correction.text, change_kinds(correction))


def change_kinds(correction: Correction) -> tuple[str, ...]:
    """``CorrectedRow.kinds`` of a correction."""
    return tuple(
        AND.join(kinds_of(change, correction.source, correction.text)) for change in correction.changes
    )
