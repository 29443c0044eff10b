"""Editable table of numbers: a setting such as ``1,0;10,0``, its array, and its editors."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from ui.shell import address, controls

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
        """The table for an editor, columns named 1, 2 …; other text is an empty cell.

        >>> NumberTable.parse("1,x").frame().isna().values.tolist()
        [[False, True]]
        """
        width = max(self.width, 1)
        rows = [[_as_number(cell) for cell in row] + [None] * (width - len(row)) for row in self.cells]
        return pd.DataFrame(rows, columns=[str(n + 1) for n in range(width)], dtype="Float64")

    def edited(self, edits: Mapping) -> "NumberTable":
        """This table after ``edits``, the state of a Streamlit data editor that was given ``frame()``.

        Unchanged cells keep their text, numbers or not.

        >>> NumberTable.parse("1,x").edited({"edited_rows": {0: {"1": 5}}}).text
        '5,x'
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


@dataclass
class _Editor:
    """The content with which an editor began. Its edits count from there, so this stays while edits come in.
    Given another beginning, Streamlit would make a new editor and lose the edits."""

    version: int
    beginning: NumberTable
    text: str  # the setting, as far as this editor knows


def cells(name: str) -> None:
    """The setting ``name`` as a grid whose rows can be added and taken away."""
    editor = _editor(name)
    frame = editor.beginning.frame()
    st.data_editor(
        frame,
        key=_key(name, editor),
        num_rows="dynamic",
        hide_index=True,
        column_config={column: st.column_config.NumberColumn(width="small") for column in frame.columns},
        on_change=_keep_cells,
        args=(name,),
    )


def line(name: str, label: str) -> None:
    """The setting ``name`` as one line of text, for tables of other widths and people who prefer to type."""
    key, start = controls.seed(f"line_{name}", address.get(name))
    st.text_input(label, start or "", key=key, on_change=lambda: address.put(name, st.session_state[key]))


def _editor(name: str) -> _Editor:
    place, text = f"editor_{name}", address.get(name)
    editor = st.session_state.get(place)
    # A value from a link or a button, or one lost by a visit to another page, begins a new editor.
    if editor is None or editor.text != text or _key(name, editor) not in st.session_state:
        version = editor.version + 1 if editor else 0
        editor = st.session_state[place] = _Editor(version, NumberTable.parse(text), text)
    return editor


def _key(name: str, editor: _Editor) -> str:
    return f"cells_{name}_{editor.version}"


def _keep_cells(name: str) -> None:
    editor = st.session_state[f"editor_{name}"]
    editor.text = editor.beginning.edited(st.session_state[_key(name, editor)]).text
    address.put(name, editor.text)
