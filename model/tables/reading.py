"""Reads the rows of a CSV, TXT or XLSX file one after the other. A bad row is reported by its number and skipped."""

import codecs
import csv
import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

import assets

FORMATS = (".csv", ".txt", ".xlsx")
HEADERS = (
    "text",
    "src",
    "source",
    "sentence",
    "문장",
    "원문",
    "글",
    "텍스트",
    # what the app calls the column of a file that it has written, in each language
    *sorted(
        json.loads(path.read_text("utf-8")).get("table_text", "text").casefold()
        for path in assets.TEXTS.glob("*/table.json")
    ),
)  # a column so called is the one
LONGEST = 32_767  # characters of one cell: what XLSX allows
UNPACKED = 1 << 30  # bytes of an XLSX file; a few kB of it can hold any amount of zeros

# What can be wrong with a row. The keys are for programs, the values for people at a command line.
PROBLEMS = {
    "encoding": "is not UTF-8",
    "no_cell": "has no cell in the column",
    "not_text": "holds a number or a date, not a text",
    "too_long": f"has more than {LONGEST:,} characters",
    "csv": "breaks the rules of CSV",
}
# What can be wrong with a file as a whole: another format, no XLSX inside, too large, no such column.
FILE_PROBLEMS = ("format", "no_xlsx", "unpacked", "no_column")


class TableError(ValueError):
    """A file cannot be read as a table; the message says why, and ``problem``, one of FILE_PROBLEMS, to programs."""

    def __init__(self, problem: str, message: str):
        super().__init__(message)
        self.problem = problem


class Row(NamedTuple):
    """``number`` counts from 1, the header included, as spreadsheets do. ``problem`` is one of PROBLEMS;
    the text of such a row is empty."""

    number: int
    text: str
    problem: str | None = None


def read_rows(file: BinaryIO, name: str, column: str | None = None) -> Iterator[Row]:
    """The rows of ``file``, whose format the end of its ``name`` tells. Rows without any text are left out.

    ``column`` is a name in the header, or a number from 1. Without it the column is the first whose header is
    one of HEADERS; where there is none the first, and all rows are texts. A TXT file has one text a line.
    Raises TableError for another format, a damaged file, or a column that is not there; that no row reaches a
    column with this number is known only behind the last row.
    """
    suffix = Path(name).suffix.lower()
    if suffix == ".txt":
        yield from _lines(file)
    elif suffix in FORMATS:
        cells = _csv_cells(file) if suffix == ".csv" else _xlsx_cells(file)
        yield from _column(cells, column)
    else:
        raise TableError("format", f"{name!r} should end in one of {', '.join(FORMATS)}")


def count_rows(file: BinaryIO, name: str, column: str | None = None) -> int:
    """How many rows ``read_rows`` gives; ``file`` stands at its beginning afterwards."""
    count = sum(1 for _ in read_rows(file, name, column))
    file.seek(0)
    return count


def encoding_of(file: BinaryIO) -> str:
    """UTF-8, or the Korean code page where the bytes are that and no UTF-8; ``file`` stands at its beginning
    afterwards."""
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
    """Decoded lines with their ends; ``file`` stays open. Bytes that cannot be decoded become surrogates."""
    wrapper = io.TextIOWrapper(file, encoding_of(file), errors="surrogateescape", newline="")
    try:
        yield from wrapper
    finally:
        with suppress(ValueError):  # whoever opened the file has closed it
            wrapper.detach()


def _lines(file: BinaryIO) -> Iterator[Row]:
    for number, line in enumerate(_text_lines(file), start=1):
        yield from _row(number, line.rstrip("\r\n"))


def _csv_cells(file: BinaryIO) -> Iterator[list[str] | None]:
    """The cells of each row; None for a row that is no CSV."""
    csv.field_size_limit(1 << 24)
    reader = csv.reader(_text_lines(file), strict=True)
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield None


def _xlsx_cells(file: BinaryIO) -> Iterator[list]:
    """The values of each row of the first sheet; of a formula, what it had come to."""
    from openpyxl import load_workbook  # a third of a second, and few want it

    try:
        with zipfile.ZipFile(file) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
        if unpacked > UNPACKED:
            raise TableError(
                "unpacked", f"the file would unpack to {unpacked:,} bytes, {UNPACKED:,} are allowed"
            )
        book = load_workbook(file, read_only=True, data_only=True)
        yield from map(list, book.worksheets[0].iter_rows(values_only=True))
        book.close()
    except TableError:
        raise
    except Exception as error:  # openpyxl, zipfile and expat raise a dozen kinds
        raise TableError("no_xlsx", f"this is no XLSX file: {type(error).__name__}") from error


def _column(rows: Iterator[list | None], column: str | None) -> Iterator[Row]:
    first = next(rows, [])
    header = ["" if cell is None else str(cell).strip().casefold() for cell in first or []]
    wanted, has_header = _find_column(header, column)
    widest = len(header)
    if first is None:
        yield Row(1, "", "csv")
    elif first and not has_header:
        yield from _cell(1, first, wanted)
    for number, cells in enumerate(rows, start=2):
        if cells is None:
            yield Row(number, "", "csv")
        elif any(cell not in (None, "") for cell in cells):
            widest = max(widest, len(cells))
            yield from _cell(number, cells, wanted)
    # Known only now: the first row may be shorter than the others.
    if column is not None and wanted >= widest:
        raise TableError("no_column", f"there is no column {column!r}, the widest row has {widest} cells")


def _find_column(header: list[str], column: str | None) -> tuple[int, bool]:
    """The column's place from 0, and whether the first row is a header."""
    known = next((header.index(name) for name in HEADERS if name in header), None)
    if column is None:
        return (0, False) if known is None else (known, True)
    if column.strip().casefold() in header:
        return header.index(column.strip().casefold()), True
    if column.isdecimal() and int(column) >= 1:
        return int(column) - 1, known is not None
    raise TableError("no_column", f"there is no column {column!r}, the first row has {header}")


def _cell(number: int, cells: list, place: int) -> Iterator[Row]:
    if place >= len(cells):
        yield Row(number, "", "no_cell")
    elif not isinstance(cells[place], str | None):
        yield Row(number, "", "not_text")
    else:
        yield from _row(number, cells[place] or "")


def _row(number: int, text: str) -> Iterator[Row]:
    if any("\udc80" <= character <= "\udcff" for character in text):
        yield Row(number, "", "encoding")
    elif len(text) > LONGEST:
        yield Row(number, "", "too_long")
    elif text.strip():
        yield Row(number, text)
