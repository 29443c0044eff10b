"""Readers of the texts in CSV, TXT and XLSX files, in any usual encoding and separator.

The text column is the given one, the one with a known header, or the only one; with several columns and no
known header none is chosen: the page asks, the command lists them. A table may begin anywhere: with a title
above its header, and with empty columns before the first. A bad row is reported by its number and skipped.
"""

import codecs
import csv
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import assets
from model.text.hangul import is_hangul

if TYPE_CHECKING:
    from openpyxl import Workbook

LONGEST = 32_767  # characters of one cell: the limit of XLSX

# Problems of a row. The keys are for programs, the values for people at a command line.
PROBLEMS = {
    "above": "stands above the header and was left out",
    "encoding": "is not UTF-8",
    "formula": "holds a formula whose result the file does not have",
    "no_cell": "has no cell in the column",
    "not_text": "holds a number or a date, not a text",
    "too_long": f"has more than {LONGEST:,} characters",
    "too_many": "has more cells than the header, so its text may be cut",
    "csv": "breaks the rules of CSV",
}
# Another format, no XLSX inside, too large, no such column, several columns and none of them chosen.
FILE_PROBLEMS = ("format", "no_xlsx", "unpacked", "no_column", "which_column")


class TableError(ValueError):
    """A file that cannot be read as a table: ``problem``, one of FILE_PROBLEMS, and a message for people."""

    def __init__(self, problem: str, message: str):
        super().__init__(message)
        self.problem = problem


UNPACKED = 1 << 30  # bytes that an XLSX file may unpack to; otherwise a few kB could fill the memory
SEPARATORS = (",", ";", "\t")
FORMULA = "\x00formula"  # in place of a formula whose result the file does not hold
_SEEN = 64  # lines that decide the separator
_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class Cells(NamedTuple):
    """A row with its number in a spreadsheet, from 1.

    ``values`` is None for a row that breaks the rules of CSV.
    """

    number: int
    values: list[object] | None


def _encoding_of(file: BinaryIO) -> str:
    file.seek(0)
    beginning = file.read(2)
    file.seek(0)
    for mark, encoding in _MARKS:
        if beginning == mark:
            return encoding
    for encoding in ("utf-8-sig", "cp949"):
        decoder = codecs.getincrementaldecoder(encoding)()
        file.seek(0)
        try:
            while block := file.read(1 << 20):
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            continue
        file.seek(0)
        return encoding
    file.seek(0)
    return "utf-8-sig"


def _text_lines(file: BinaryIO) -> Iterator[str]:
    """Decoded lines with their ends; ``file`` stays open.

    Bytes that cannot be decoded become surrogates, in UTF-16 U+FFFD.
    """
    encoding = _encoding_of(file)
    errors = "replace" if encoding.startswith("utf-16") else "surrogateescape"
    wrapper = io.TextIOWrapper(file, encoding, errors=errors, newline="")
    try:
        for number, line in enumerate(wrapper):
            yield line.removeprefix("\ufeff") if number == 0 else line
    finally:
        with suppress(ValueError):  # the file was closed meanwhile
            wrapper.detach()


def _csv_cells(file: BinaryIO) -> Iterator[Cells]:
    """The rows of a CSV file, with commas, semicolons or tabs between the cells."""
    csv.field_size_limit(1 << 24)
    separator = separator_of(list(islice(_text_lines(file), _SEEN)))
    file.seek(0)
    reader, number = csv.reader(_text_lines(file), delimiter=separator, strict=True), 0
    while True:
        number += 1
        try:
            yield Cells(number, list(next(reader)))
        except StopIteration:
            return
        except csv.Error:
            yield Cells(number, None)


def separator_of(lines: list[str]) -> str:
    """The separator that gives most of the lines the same number of cells, at least two; else a comma.

    >>> separator_of(["이름;소감", "민수;좋았다, 정말", "지우;재미있었다"])
    ';'
    """
    return max(reversed(SEPARATORS), key=lambda each: (_evenness(lines, each), each == SEPARATORS[0]))


def _evenness(lines: list[str], separator: str) -> float:
    try:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=separator) if row)
    except csv.Error:
        return 0.0
    width, count = max(widths.items(), key=lambda each: each[1], default=(0, 0))
    return count / widths.total() if width > 1 else 0.0


def _xlsx_cells(file: BinaryIO) -> Iterator[Cells]:
    """The rows of the first visible sheet; a formula is its stored result, or FORMULA.

    Raises:
        TableError: for a file that is no XLSX file, and for one that would unpack to more than UNPACKED
            bytes.
    """
    from openpyxl import load_workbook  # imported here: it takes a third of a second

    try:
        with zipfile.ZipFile(file) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
        if unpacked > UNPACKED:
            raise TableError(
                "unpacked", f"the file would unpack to {unpacked:,} bytes, {UNPACKED:,} are allowed"
            )
        books = [load_workbook(file, read_only=True, data_only=values) for values in (True, False)]
        if not books[0].worksheets:  # Strict Open XML, which openpyxl does not read
            raise TableError(
                "no_xlsx", "the file holds no sheet that can be read; save it as an ordinary XLSX file"
            )
        rows = zip_longest(*map(_rows_of_sheet, books), fillvalue=())
        for number, (values, formulas) in enumerate(rows, start=1):
            yield Cells(number, [_value(*pair) for pair in zip_longest(values, formulas)])
        for book in books:
            book.close()
    except TableError:
        raise
    except Exception as error:  # openpyxl, zipfile and expat raise a dozen kinds
        raise TableError("no_xlsx", f"this is no XLSX file: {type(error).__name__}") from error


def _rows_of_sheet(book: "Workbook") -> Iterator[tuple[object, ...]]:
    sheet = next((each for each in book.worksheets if each.sheet_state == "visible"), book.worksheets[0])
    sheet.reset_dimensions()  # programs write wrong ones, which would cut rows off
    return sheet.iter_rows(min_row=1, min_col=1, values_only=True)


def _value(value: object, formula: object) -> object:
    from openpyxl.utils.escape import unescape

    if value is None and isinstance(formula, str) and formula.startswith("="):
        return FORMULA
    return unescape(value) if isinstance(value, str) else value


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


@dataclass(frozen=True)
class Columns:
    """The columns of a table. ``header`` is the number of the row with their names, 0 for none."""

    header: int
    names: tuple[str, ...]  # one for each column, empty where it has none
    places: tuple[int, ...]  # of the columns that are not empty, from 0
    chosen: int | None  # the place of the texts; None if that is not clear
    guess: int | None  # the place with the most Hangul

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
    [Cells(number=2, values=['글'])]
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
    header = _header(full, column)
    below = [row.values or [] for row in full if header is None or row.number > header.number]
    width = len(_trimmed(header.values or [])) if header else _usual_width(full)
    names = (
        tuple("" if cell is None else str(cell).strip() for cell in (header.values or [])[:width])
        if header
        else ("",) * width
    )
    filled = {place for values in below for place in _filled(values)} | {
        i for i, name in enumerate(names) if name
    }
    places = tuple(sorted(place for place in filled if place < width))
    guess = max(places, key=lambda place: _hangul(below, place), default=None)
    return Columns(header.number if header else 0, names, places, _chosen(names, places, column), guess)


def _chosen(names: tuple[str, ...], places: tuple[int, ...], column: str | None) -> int | None:
    folded = [name.casefold() for name in names]
    if column is not None:
        if (wanted := column.strip().casefold()) in folded:
            return folded.index(wanted)
        if column.isdecimal() and int(column) >= 1:
            return int(column) - 1
        raise TableError("no_column", f"there is no column {column!r}, the header has {list(names)}")
    known = next((folded.index(name) for name in HEADERS if name in folded), None)
    if known is not None:
        return known
    return places[0] if len(places) == 1 else None


def _header(rows: Sequence[Cells], column: str | None) -> Cells | None:
    """The row with a wanted or a known name, else the first that looks like names."""
    wanted = HEADERS if column is None or column.isdecimal() else (*HEADERS, column.strip().casefold())
    for row in rows[:_ABOVE]:
        if any(isinstance(cell, str) and cell.strip().casefold() in wanted for cell in row.values or []):
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
    if all(not isinstance(cell, str) or cell.strip().isdecimal() for cell in cells):
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


FORMATS = (".csv", ".txt", ".xlsx")


class TableRow(NamedTuple):
    """A row: its ``number`` in a spreadsheet, from 1 with the header, its text, and the other cells as texts.

    The text of a row with a ``problem``, one of PROBLEMS, is empty.
    """

    number: int
    text: str
    problem: str | None = None
    others: tuple[str, ...] = ()


def read_columns(file: BinaryIO, name: str, column: str | None = None) -> Columns | None:
    """The columns of a CSV or XLSX file; None for a TXT file, which has none.

    ``file`` is at its beginning afterwards. ``column`` may choose one of them.

    Raises:
        TableError: as ``read_rows`` does, except for several columns without a choice.
    """
    cells = _cells(file, name)
    found = None if cells is None else find_columns(first_rows(cells), column)
    file.seek(0)
    return found


def read_rows(file: BinaryIO, name: str, column: str | None = None) -> Iterator[TableRow]:
    """The rows of ``file`` that hold a text. A TXT file has one text a line.

    Args:
        name: of the file; its end tells the format.
        column: a name in the header, or a number from 1; by default the one with a name of HEADERS, or the
            only one.

    Raises:
        TableError: for another format, a damaged file, a column that is missing, and several columns without
            a choice; for a
            number that no row reaches, only after the last row.
    """
    cells = _cells(file, name)
    if cells is None:
        for number, line in enumerate(_text_lines(file), start=1):
            yield from _row(number, line.rstrip("\r\n"), ())
        return
    first = first_rows(cells)
    columns = find_columns(first, column)
    if columns.chosen is None and columns.places:
        names = ", ".join(map(columns.name, columns.places))
        raise TableError("which_column", f"there are several columns, say which one: {names}")
    yield from _rows(chain(first, cells), columns, column)


def count_rows(file: BinaryIO, name: str, column: str | None = None) -> int:
    """The number of rows of ``read_rows``; ``file`` is at its beginning afterwards.

    >>> count_rows(io.BytesIO("글\\n머거요\\n\\n네".encode()), "class.csv")
    2

    Raises:
        TableError: as ``read_rows``.
    """
    count = sum(1 for _ in read_rows(file, name, column))
    file.seek(0)
    return count


def _cells(file: BinaryIO, name: str) -> Iterator[Cells] | None:
    """None for a TXT file."""
    suffix = Path(name).suffix.lower()
    if suffix not in FORMATS:
        raise TableError("format", f"{name!r} should end in one of {', '.join(FORMATS)}")
    return None if suffix == ".txt" else _csv_cells(file) if suffix == ".csv" else _xlsx_cells(file)


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
        # In the last column, further cells are the rest of a text with unquoted commas.
        texts = values[place:] if too_many and place == columns.width - 1 else values[place : place + 1]
        yield from _row(number, ",".join(map(_as_text, texts)), others)


def _as_text(cell: object) -> str:
    return "" if cell is None or cell == FORMULA else str(cell)


def _row(number: int, text: str, others: tuple[str, ...]) -> Iterator[TableRow]:
    if any("\udc80" <= character <= "\udcff" for character in text):
        yield TableRow(number, "", "encoding", others)
    elif len(text) > LONGEST:
        yield TableRow(number, "", "too_long", others)
    elif text.strip():
        yield TableRow(number, text, None, others)
