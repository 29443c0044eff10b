"""Readers of the texts in CSV, TXT and XLSX files, in any usual encoding and separator, and in documents.

A bad row is reported by its number and skipped. The rows of a document are its paragraphs.
"""

import codecs
import csv
import io
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from model.tables.columns import FORMULA, Cells, Columns, find_columns, first_rows, has_text
from model.tables.documents import DOCUMENTS, OLD_DOCUMENTS, Document
from model.tables.rows import TableError, TableRow, row_of

if TYPE_CHECKING:
    from openpyxl import Workbook

UNPACKED = 1 << 30  # bytes that an XLSX file may unpack to; otherwise a few kB could fill the memory
SEPARATORS = (",", ";", "\t")
_SEEN = 64  # lines that decide the separator
_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


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


TABLES = (".csv", ".txt", ".xlsx")
FORMATS = (*TABLES, *DOCUMENTS)


def read_columns(file: BinaryIO, name: str, column: str | None = None) -> Columns | None:
    """The columns of a CSV or XLSX file; None for a TXT file and a document, which have none.

    ``file`` is at its beginning afterwards. ``column`` may choose one of them.

    Raises:
        TableError: as ``read_rows`` does, except for several columns without a choice.
    """
    cells = _cells(file, name)
    found = None if cells is None else find_columns(first_rows(cells), column)
    file.seek(0)
    return found


def read_rows(file: BinaryIO, name: str, column: str | None = None) -> Iterator[TableRow]:
    """The rows of ``file`` that hold a text. A TXT file has one text a line, a document one a paragraph.

    Args:
        name: of the file; its end tells the format.
        column: a name in the header, or a number from 1; by default the one with a name of HEADERS, or the
            only one.

    Raises:
        TableError: for another format, a damaged file, a column that is missing, and several columns without
            a choice; for a
            number that no row reaches, only after the last row.
    """
    if Path(name).suffix.lower() in DOCUMENTS + OLD_DOCUMENTS:
        for number, text in enumerate(Document(file).paragraphs, start=1):
            yield from row_of(number, text)
        return
    cells = _cells(file, name)
    if cells is None:
        for number, line in enumerate(_text_lines(file), start=1):
            yield from row_of(number, line.rstrip("\r\n"))
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
    """None for a TXT file and a document."""
    suffix = Path(name).suffix.lower()
    if suffix not in FORMATS + OLD_DOCUMENTS:
        raise TableError("format", f"{name!r} should end in one of {', '.join(FORMATS)}")
    return (
        None
        if suffix not in (".csv", ".xlsx")
        else _csv_cells(file)
        if suffix == ".csv"
        else _xlsx_cells(file)
    )


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
        yield from row_of(number, ",".join(map(_as_text, texts)), others)


def _as_text(cell: object) -> str:
    return "" if cell is None or cell == FORMULA else str(cell)
