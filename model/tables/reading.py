"""Readers of texts in CSV, TXT and XLSX files and documents; encodings and separators.

A bad row is reported by its number and skipped. The rows of a document are its paragraphs.
"""

import codecs
import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from model.tables.columns import FORMULA, Cells, Columns, find_columns, first_rows, has_text
from model.tables.documents import DOCUMENTS, OLD_DOCUMENTS, Document, refuse_compound
from model.tables.rows import TableError, TableRow, check_unpacked, row_of

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

UNPACKED = 1 << 30  # bytes that an XLSX file may unpack to; otherwise a few kB could fill the memory
SEPARATORS = (",", "|", ";", "\t")
_SEEN = 64  # lines that decide the separator
_BROKEN = re.compile("[\udc80-\udcff]")
_FAR_FEWER = 4
_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def encoding_of(file: BinaryIO) -> str:
    """The encoding of a text by its mark, else UTF-8 or the Korean code page, which has fewer broken bytes.

    >>> encoding_of(io.BytesIO("고갱이 왔다".encode("cp949") + b"\\xff"))
    'cp949'
    """
    file.seek(0)
    beginning = file.read(2)
    for mark, encoding in _MARKS:
        if beginning == mark:
            file.seek(0)
            return encoding
    broken = {encoding: _broken_bytes(file, encoding) for encoding in ("utf-8-sig", "cp949")}
    # UTF-8 with a broken byte is mostly valid in the code page, too, but not the other way round.
    return "cp949" if _FAR_FEWER * broken["cp949"] < broken["utf-8-sig"] else "utf-8-sig"


def _broken_bytes(file: BinaryIO, encoding: str) -> int:
    """The number of bytes that the encoding does not have; ``file`` is at its beginning afterwards."""
    decoder, count = codecs.getincrementaldecoder(encoding)("surrogateescape"), 0
    file.seek(0)
    while block := file.read(1 << 20):
        count += len(_BROKEN.findall(decoder.decode(block)))
    count += len(_BROKEN.findall(decoder.decode(b"", final=True)))
    file.seek(0)
    return count


def text_lines(file: BinaryIO) -> Iterator[str]:
    """Decoded lines with their ends; ``file`` stays open. Where a program wrote CR before CR LF, all three
    end one line.

    Bytes that cannot be decoded become surrogates, in UTF-16 U+FFFD.
    """
    encoding = encoding_of(file)
    errors = "replace" if encoding.startswith("utf-16") else "surrogateescape"
    wrapper = io.TextIOWrapper(file, encoding, errors=errors, newline="")
    try:
        waiting = wrapper.readline().removeprefix("\ufeff")
        for line in wrapper:
            if waiting.endswith("\r") and line == "\r\n":
                waiting += line
                continue
            yield waiting
            waiting = line
        if waiting:
            yield waiting
    finally:
        with suppress(ValueError):  # the file was closed meanwhile
            wrapper.detach()


def csv_records(file: BinaryIO, separator: str) -> Iterator[tuple[str, list[str] | None]]:
    """The rows of a CSV file: as they are written, and their cells; None for one that breaks the rules."""
    csv.field_size_limit(1 << 24)
    read = list[str]()

    def kept() -> Iterator[str]:
        for line in text_lines(file):
            read.append(line)
            yield line

    reader = csv.reader(kept(), delimiter=separator, strict=True)
    while True:
        read.clear()
        try:
            cells: list[str] | None = next(reader)
        except StopIteration:
            return
        except csv.Error:
            cells = None
        yield "".join(read), cells


def csv_separator(file: BinaryIO) -> str:
    """The separator of a CSV file, which is at its beginning afterwards."""
    found = separator_of(list(islice(text_lines(file), _SEEN)))
    file.seek(0)
    return found


def _csv_cells(file: BinaryIO) -> Iterator[Cells]:
    """The rows of a CSV file, with one of SEPARATORS between the cells."""
    separator = csv_separator(file)
    for number, (_, cells) in enumerate(csv_records(file, separator), start=1):
        yield Cells(number, None if cells is None else list(cells), separator)


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
        TableError: for a file that is no XLSX file, or an encrypted one, and for one that would unpack to
            more than UNPACKED bytes.
    """
    from openpyxl import load_workbook  # imported here: it takes a third of a second

    refuse_compound(file)
    try:
        with zipfile.ZipFile(file) as archive:
            check_unpacked(archive, UNPACKED)
            file = _transitional(archive) or file
        books = [load_workbook(file, read_only=True, data_only=values) for values in (True, False)]
        rows = zip_longest(*map(_rows_of_sheet, books), fillvalue=())
        for number, (values, formulas) in enumerate(rows, start=1):
            yield Cells(number, [_value(*pair) for pair in zip_longest(values, formulas)], "")
        for book in books:
            book.close()
    except TableError:
        raise
    except Exception as error:  # openpyxl, zipfile and expat raise a dozen kinds
        raise TableError("no_xlsx", f"this is no XLSX file: {type(error).__name__}") from error


# Namespaces of "Strict Open XML", which openpyxl does not read, and the usual ones (ISO/IEC 29500-1 and -4).
_STRICT = {
    b"http://purl.oclc.org/ooxml/spreadsheetml/main": b"http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    b"http://purl.oclc.org/ooxml/officeDocument/": b"http://schemas.openxmlformats.org/officeDocument/2006/",
}


def _transitional(archive: zipfile.ZipFile) -> io.BytesIO | None:
    """A file of "Strict Open XML" with the usual namespaces; None for another file."""
    if not any(strict in archive.read("xl/workbook.xml") for strict in _STRICT):
        return None
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as result:
        for name in archive.namelist():
            content = archive.read(name)
            for strict, usual in _STRICT.items():
                content = content.replace(strict, usual)
            result.writestr(name, content)
    return made


def _read_sheet(book: "Workbook") -> "ReadOnlyWorksheet":
    """The first sheet that is visible."""
    return next((each for each in book.worksheets if each.sheet_state == "visible"), book.worksheets[0])


def sheet_part(file: BinaryIO) -> str:
    """The name of the part with the sheet that is read, in an XLSX file that ``read_rows`` has read."""
    from openpyxl import load_workbook

    with zipfile.ZipFile(file) as archive:
        book = load_workbook(_transitional(archive) or file, read_only=True)
    return _read_sheet(book)._worksheet_path.lstrip("/")


def _rows_of_sheet(book: "Workbook") -> Iterator[tuple[object, ...]]:
    sheet = _read_sheet(book)
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
        for number, line in enumerate(text_lines(file), start=1):
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
    readers = {".csv": _csv_cells, ".xlsx": _xlsx_cells}
    return readers[suffix](file) if suffix in readers else None


def _rows(cells: Iterator[Cells], columns: Columns, column: str | None) -> Iterator[TableRow]:
    widest = columns.width
    for row in cells:
        number, values, _ = row
        if values is None:
            yield TableRow(number, "", "csv")
        elif columns.begins <= number <= columns.header or not has_text(values):
            widest = max(widest, len(values))
        elif number < columns.header:
            yield TableRow(number, "", "above")
        else:
            widest = max(widest, len(values))
            yield from _cell(row, values, columns)
    # Known only now: the first row may be shorter than the others.
    if column is not None and columns.chosen is not None and columns.chosen >= widest:
        raise TableError("no_column", f"there is no column {column!r}, the widest row has {widest} cells")


def _cell(row: Cells, values: list, columns: Columns) -> Iterator[TableRow]:
    number, place = row.number, columns.chosen
    assert place is not None, "``read_rows`` refuses the others"
    others = tuple(_as_text(values[other]) if other < len(values) else "" for other in columns.others)
    too_many = row.separator and any(cell not in (None, "") for cell in values[columns.width :])
    if place >= len(values):
        yield TableRow(number, "", "no_cell", others)
    elif values[place] == FORMULA:
        yield TableRow(number, "", "formula", others)
    elif not isinstance(values[place], str | None):
        yield TableRow(number, "", "not_text", others)
    elif too_many and place < columns.width - 1:
        yield TableRow(number, "", "too_many", others)
    else:
        # In the last column, further cells are the rest of a text with unquoted separators.
        texts = values[place:] if too_many and place == columns.width - 1 else values[place : place + 1]
        yield from row_of(number, row.separator.join(map(_as_text, texts)), others)


def _as_text(cell: object) -> str:
    return "" if cell is None or cell == FORMULA else str(cell)
