"""A small table of numbers as a person types it: a setting like ``1,0;10,0``, rows in an editor, an array."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

MOST_ROWS, MOST_COLUMNS = 8, 6
LARGEST = 100_000
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True)
class Problem:
    """Why a table cannot be computed with: ``kind`` ends the key of the text that says it."""

    kind: str  # "empty", "many_rows", "many_columns", "unequal", "missing", "not_number" or "huge"
    row: int = 0  # counted from 1, as all numbers here
    column: int = 0
    found: str = ""


@dataclass(frozen=True)
class NumberTable:
    """Cells exactly as they were typed, so that a slip can be shown and mended instead of being lost."""

    cells: tuple[tuple[str, ...], ...]

    @classmethod
    def parse(cls, text: str) -> "NumberTable":
        """Any text at all: rows end at ``;`` or at a line's end, cells at ``,``.

        >>> NumberTable.parse("1,0;10,0").cells
        (('1', '0'), ('10', '0'))
        """
        rows = text.replace("\n", ";").strip().strip(";").split(";")
        return cls(tuple(tuple(cell.strip() for cell in row.split(",")) for row in rows if row.strip()))

    @property
    def text(self) -> str:
        """The text that ``parse`` reads as this table.

        >>> NumberTable.parse("1, 0;10, 0").text
        '1,0;10,0'
        """
        return ";".join(",".join(row) for row in self.cells)

    @property
    def width(self) -> int:
        """The number of cells in the longest row.

        >>> NumberTable.parse("1;2,3").width
        2
        """
        return max(map(len, self.cells), default=0)

    def problem(self) -> Problem | None:
        """The first reason why this table is no array of numbers; None if it is one.

        >>> NumberTable.parse("1,x").problem().kind
        'not_number'
        """
        if not self.cells:
            return Problem("empty")
        if len(self.cells) > MOST_ROWS:
            return Problem("many_rows", row=len(self.cells))
        if self.width > MOST_COLUMNS:
            return Problem("many_columns", column=self.width)
        for number, row in enumerate(self.cells, start=1):
            if found := _problem_of(row, number):
                return found
        for number, row in enumerate(self.cells, start=1):
            if len(row) != len(self.cells[0]):
                return Problem("unequal", row=number, column=len(row), found=str(len(self.cells[0])))
        return None

    def numbers(self) -> np.ndarray:
        """(rows, width) float64. Raises ValueError for a table that has a ``problem``."""
        if problem := self.problem():
            raise ValueError(f"no table of numbers: {problem} in {self.text!r}")
        return np.array([[float(cell) for cell in row] for row in self.cells])

    def frame(self) -> pd.DataFrame:
        """The table for an editor, columns named 1, 2 …; other text is an empty cell."""
        width = max(self.width, 1)
        rows = [[_as_number(cell) for cell in row] + [None] * (width - len(row)) for row in self.cells]
        return pd.DataFrame(rows, columns=[str(n + 1) for n in range(width)], dtype="Float64")

    def edited(self, edits: Mapping) -> "NumberTable":
        """This table after ``edits``, the state of a Streamlit data editor that was given ``frame()``.

        Unchanged cells keep their text, numbers or not.
        """
        width = max(self.width, 1)
        rows = [list(row) for row in self.cells]
        for row, changed in edits.get("edited_rows", {}).items():
            cells = rows[int(row)]
            cells += [""] * (max(map(int, changed), default=0) - len(cells))
            for column, value in changed.items():
                cells[int(column) - 1] = _as_text(value)
        gone = set(edits.get("deleted_rows", ()))
        rows = [row for number, row in enumerate(rows) if number not in gone]
        for added in edits.get("added_rows", ()):
            rows.append([_as_text(added.get(str(n + 1))) for n in range(width)])
        return NumberTable(tuple(map(tuple, rows)))


def _problem_of(row: tuple[str, ...], number: int) -> Problem | None:
    for column, cell in enumerate(row, start=1):
        if not cell:
            return Problem("missing", number, column)
        if not _NUMBER.fullmatch(cell):
            return Problem("not_number", number, column, cell)
        if not abs(float(cell)) <= LARGEST:
            return Problem("huge", number, column, cell)
    return None


def _as_number(cell: str) -> float | None:
    return float(cell) if _NUMBER.fullmatch(cell) and np.isfinite(float(cell)) else None


def _as_text(value: object) -> str:
    return "" if value is None else f"{value:.12g}"
