"""Columns of a table: the row of their names, and the one with the texts.

The text column is the given one, the one with a known header, or the only one; with several columns and no
known header none is chosen: the page asks, the command lists them. A table may begin anywhere: with a title
above its header, and with empty columns before the first.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

import assets
from model.tables.rows import TableError
from model.text.hangul import is_hangul
from model.text.tokenizer import normalise

FORMULA = "\x00formula"  # in place of a formula whose result the file does not hold


class Cells(NamedTuple):
    """A row with its number in a spreadsheet, from 1.

    ``values`` is None for a row that breaks the rules of CSV. ``separator`` is empty where a cell cannot be
    part of a text that was not quoted, as in XLSX.
    """

    number: int
    values: list[object] | None
    separator: str = ","


# A column with one of these names holds the texts.
HEADERS = (
    "text",
    "src",
    "source",
    "sentence",
    "문장",
    "원문",
    "글",
    "텍스트",
    # the app's own name of the column in a file that it has written, in each language
    *sorted(
        json.loads(path.read_text("utf-8")).get("table_text", "text").casefold()
        for path in assets.TEXTS.glob("*/table.json")
    ),
)
LOOKED_AT = 50  # non-blank rows that decide the columns
_ABOVE = 10  # rows among which the header may be
_LONGEST_NAME = 20  # characters of a cell of the header
_ENDS = ".?!…"
_UNSEEN = re.compile("[\ufeff\u200b-\u200f\u2060\xad]")  # byte order marks, joiners, directions, soft hyphens


@dataclass(frozen=True)
class Columns:
    """The columns of a table. ``header`` is the number of the row with their names, 0 for none."""

    header: int
    names: tuple[str, ...]  # one for each column, empty where it has none
    places: tuple[int, ...]  # of the columns that are not empty, from 0
    chosen: int | None  # the place of the texts; None if that is not clear
    guess: int | None  # the place with the most Hangul
    above: int = 0  # rows of the header above the one at ``header``, for names of several columns

    @property
    def begins(self) -> int:
        """The number of the header's first row."""
        return self.header - self.above

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.names)

    @property
    def others(self) -> tuple[int, ...]:
        """The places of all other columns.

        >>> Columns(1, ("이름", "글"), (0, 1), 1, 1).others
        (0,)
        """
        return tuple(place for place in self.places if place != self.chosen)

    def name(self, place: int) -> str:
        """A column's name in the header, or its number from 1.

        >>> Columns(1, ("글", ""), (0, 1), 0, 0).name(1)
        '2'
        """
        return (self.names[place] if place < self.width else "") or str(place + 1)


def has_text(values: list) -> bool:
    """Whether a row holds anything but blanks.

    >>> has_text(["", None, " "]), has_text(["", "글"])
    (False, True)
    """
    return bool(_filled(values))


def first_rows(cells: Iterator[Cells]) -> list[Cells]:
    """The rows by which ``find_columns`` decides, taken from ``cells``, without blank ones.

    >>> first_rows(iter([Cells(1, [""]), Cells(2, ["글"])]))
    [Cells(number=2, values=['글'], separator=',')]
    """
    found: list[Cells] = []
    full = 0
    while full < LOOKED_AT and (row := next(cells, None)) is not None:
        if row.values is None or has_text(row.values):
            found.append(row)
            full += row.values is not None
    return found


def find_columns(rows: Sequence[Cells], column: str | None = None) -> Columns:
    """Find the columns of a table that begins with these rows.

    Args:
        column: a name in the header, or a number from 1.

    Raises:
        TableError: for a name that the header does not have.
    """
    full = [row for row in rows if row.values and has_text(row.values)]
    header, last, cells = _header(full, column), None, list[object]()
    if header is not None:
        last = _second_row(header, full)
        cells = _trimmed(header.values or [] if last is None else _joined(header.values, last.values))
    end = last or header
    below = [row.values or [] for row in full if end is None or row.number > end.number]
    width = len(cells) if header else _usual_width(full)
    names = tuple("" if cell is None else str(cell).strip() for cell in cells) if header else ("",) * width
    filled = {place for values in below for place in _filled(values)} | {
        i for i, name in enumerate(names) if name
    }
    places = tuple(sorted(place for place in filled if place < width))
    guess = max(places, key=lambda place: _hangul(below, place), default=None)
    number, above = (end.number, end.number - header.number) if header and end else (0, 0)
    return Columns(number, names, places, _chosen(names, places, column), guess, above)


def folded(name: object) -> str:
    """A name as names are compared: composed, without marks that cannot be seen.

    >>> folded("\\ufeff Text\\u200b ")
    'text'
    """
    return normalise(_UNSEEN.sub("", str(name))).strip().casefold()


def _second_row(header: Cells, rows: Sequence[Cells]) -> Cells | None:
    """The row below a header that names several columns at once, with the names of each."""
    row = next((row for row in rows if row.number == header.number + 1), None)
    if row is None or not _looks_like_names(row.values or []):
        return None
    values, names = row.values or [], header.values or []
    named = _filled(names)
    parted = [place for place in _filled(values) if place not in named]  # below a name of several columns
    below = [each.values or [] for each in rows if each.number > row.number]
    is_below = any(_is_number_column(below, place) for place in _filled(values)) or any(
        below and all(place in _filled(each) for each in below)
        for place in named
        if place not in _filled(values)
    )
    return row if parted and named and parted[0] > named[0] and is_below else None


def _is_number_column(rows: Sequence[list], place: int) -> bool:
    cells = [values[place] for values in rows if place < len(values) and values[place] not in (None, "")]
    return bool(cells) and all(not isinstance(cell, str) or cell.strip().isdecimal() for cell in cells)


def _joined(names: Sequence[object] | None, below: Sequence[object] | None) -> list[object]:
    """The names of two rows as one."""
    joined, above = list[object](), ""
    for name, second in zip_longest(names or [], below or []):
        above = str(name).strip() if name not in (None, "") else above if second else ""
        joined.append(f"{above} {second or ''}".strip())
    return joined


def _chosen(names: tuple[str, ...], places: tuple[int, ...], column: str | None) -> int | None:
    known_as = [folded(name) for name in names]
    if column is not None:
        if (wanted := folded(column)) in known_as:
            return known_as.index(wanted)
        if column.isdecimal() and int(column) >= 1:
            return int(column) - 1
        raise TableError("no_column", f"there is no column {column!r}, the header has {list(names)}")
    known = next((known_as.index(name) for name in HEADERS if name in known_as), None)
    if known is not None:
        return known
    return places[0] if len(places) == 1 else None


def _header(rows: Sequence[Cells], column: str | None) -> Cells | None:
    """The row with a wanted or a known name, else the first that looks like names."""
    wanted = HEADERS if column is None or column.isdecimal() else (*HEADERS, folded(column))
    for row in rows[:_ABOVE]:
        if any(isinstance(cell, str) and folded(cell) in wanted for cell in row.values or []):
            return row
    width = _usual_width(rows)
    first = next((row for row in rows[:_ABOVE] if len(_filled(row.values or [])) > 1), None)
    if width < 2 or first is None or not _looks_like_names(first.values or []):
        return None
    below = [row.values or [] for row in rows if row.number > first.number]
    return first if any(_differs(below, place, first.values or []) for place in range(width)) else None


def _looks_like_names(values: list) -> bool:
    cells = [values[place] for place in _filled(values)]
    return len(set(cells)) == len(cells) and all(
        isinstance(cell, str)
        and len(cell) <= _LONGEST_NAME
        and not cell.strip().endswith(tuple(_ENDS))
        and not cell.strip().isdecimal()
        for cell in cells
    )


def _differs(below: Sequence[list], place: int, header: list) -> bool:
    """Whether the cells below a name are of another sort: numbers, or texts at least twice as long."""
    cells = [values[place] for values in below if place < len(values) and values[place] not in (None, "")]
    if not cells or place >= len(header):
        return False
    if _is_number_column(below, place):
        return True
    return sum(len(str(cell)) for cell in cells) >= 2 * len(cells) * len(str(header[place] or ""))


def _usual_width(rows: Sequence[Cells]) -> int:
    """The number of cells of most rows; of two equally frequent ones the first."""
    widths = Counter(len(_trimmed(row.values or [])) for row in rows)
    return max(widths, key=widths.__getitem__, default=0)


def _filled(values: list) -> list[int]:
    return [place for place, cell in enumerate(values) if cell is not None and str(cell).strip()]


def _trimmed(values: list) -> list:
    """Without the empty cells at the end."""
    return values[: max(_filled(values), default=-1) + 1]


def _hangul(rows: Sequence[list], place: int) -> int:
    return sum(
        sum(map(is_hangul, values[place]))
        for values in rows
        if place < len(values) and isinstance(values[place], str)
    )
