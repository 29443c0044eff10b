"""Reads the rows of a CSV, TXT or XLSX file one after the other. A bad row is reported by its number and skipped."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from model.tables.cells import FORMULA, Cells, csv_cells, text_lines, xlsx_cells
from model.tables.columns import Columns, find_columns, first_rows, has_text
from model.tables.errors import LONGEST, TableError

FORMATS = (".csv", ".txt", ".xlsx")


class TableRow(NamedTuple):
    """``number`` counts from 1, the header included, as spreadsheets do. ``problem`` is one of ``errors.PROBLEMS``;
    the text of such a row is empty. ``others`` are the cells of the other columns, as texts."""

    number: int
    text: str
    problem: str | None = None
    others: tuple[str, ...] = ()


def read_columns(file: BinaryIO, name: str, column: str | None = None) -> Columns | None:
    """The columns of a CSV or XLSX file, of which ``column`` may be chosen; None for a TXT file, which has none. ``file`` stands at its
    beginning afterwards.

    Raises TableError as ``read_rows`` does, but not where nobody has chosen a column.
    """
    cells = _cells(file, name)
    found = None if cells is None else find_columns(first_rows(cells), column)
    file.seek(0)
    return found


def read_rows(file: BinaryIO, name: str, column: str | None = None) -> Iterator[TableRow]:
    """The rows of ``file``, whose format the end of its ``name`` tells. Rows without any text are left out.

    ``column`` is a name in the header, or a number from 1. Without it the column is the one whose header is one of
    ``columns.HEADERS``, or the only one. A TXT file has one text a line.
    Raises TableError for another format, a damaged file, a column that is not there, and if none of several columns is chosen. A
    number that no row reaches is refused only after the last row.
    """
    cells = _cells(file, name)
    if cells is None:
        for number, line in enumerate(text_lines(file), start=1):
            yield from _row(number, line.rstrip("\r\n"), ())
        return
    first = first_rows(cells)
    columns = find_columns(first, column)
    if columns.chosen is None and columns.places:
        names = ", ".join(map(columns.name, columns.places))
        raise TableError("which_column", f"there are several columns, say which one: {names}")
    yield from _rows(chain(first, cells), columns, column)


def count_rows(file: BinaryIO, name: str, column: str | None = None) -> int:
    """How many rows ``read_rows`` gives; ``file`` stands at its beginning afterwards."""
    count = sum(1 for _ in read_rows(file, name, column))
    file.seek(0)
    return count


def _cells(file: BinaryIO, name: str) -> Iterator[Cells] | None:
    """None for a TXT file."""
    suffix = Path(name).suffix.lower()
    if suffix not in FORMATS:
        raise TableError("format", f"{name!r} should end in one of {', '.join(FORMATS)}")
    return None if suffix == ".txt" else csv_cells(file) if suffix == ".csv" else xlsx_cells(file)


def _rows(cells: Iterator[Cells], columns: Columns, column: str | None) -> Iterator[TableRow]:
    widest = columns.width
    for number, values in cells:
        if values is None:
            yield TableRow(number, "", "csv")
        elif number == columns.header or not has_text(values):
            widest = max(widest, len(values))
        elif number < columns.header:
            yield TableRow(number, "", "above")
        else:
            widest = max(widest, len(values))
            yield from _cell(number, values, columns)
    # Known only now: the first row may be shorter than the others.
    if column is not None and columns.chosen is not None and columns.chosen >= widest:
        raise TableError("no_column", f"there is no column {column!r}, the widest row has {widest} cells")


def _cell(number: int, values: list, columns: Columns) -> Iterator[TableRow]:
    place = columns.chosen
    assert place is not None, "``read_rows`` refuses the others"
    others = tuple(_as_text(values[other]) if other < len(values) else "" for other in columns.others)
    too_many = any(cell not in (None, "") for cell in values[columns.width :])
    if place >= len(values):
        yield TableRow(number, "", "no_cell", others)
    elif values[place] == FORMULA:
        yield TableRow(number, "", "formula", others)
    elif not isinstance(values[place], str | None):
        yield TableRow(number, "", "not_text", others)
    elif too_many and place < columns.width - 1:
        yield TableRow(number, "", "too_many", others)
    else:
        # In the last column what follows is the rest of a text with commas that nobody has quoted.
        texts = values[place:] if too_many and place == columns.width - 1 else values[place : place + 1]
        yield from _row(number, ",".join(map(_as_text, texts)), others)


def _as_text(cell: Any) -> str:
    return "" if cell is None or cell == FORMULA else str(cell)


def _row(number: int, text: str, others: tuple[str, ...]) -> Iterator[TableRow]:
    if any("\udc80" <= character <= "\udcff" for character in text):
        yield TableRow(number, "", "encoding", others)
    elif len(text) > LONGEST:
        yield TableRow(number, "", "too_long", others)
    elif text.strip():
        yield TableRow(number, text, None, others)
