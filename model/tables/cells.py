"""Reads the cells of a CSV or XLSX file row by row, and the lines of a TXT file, in any usual encoding and with any usual separator."""

import codecs
import csv
import io
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, zip_longest
from typing import Any, BinaryIO, NamedTuple

from model.tables.errors import TableError

UNPACKED = 1 << 30  # bytes that an XLSX file may unpack to; otherwise a few kB could fill the memory
SEPARATORS = (",", ";", "\t")
FORMULA = "\x00formula"  # stands for a formula whose result the file does not hold
_SEEN = 64  # lines that are looked at to find the separator
_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class Cells(NamedTuple):
    """A row with its number as spreadsheets show it, from 1. ``values`` is None for a row that breaks the rules of CSV."""

    number: int
    values: list[Any] | None


def encoding_of(file: BinaryIO) -> str:
    """The encoding of a file: UTF-16 if the file begins with its mark, as spreadsheets write it; else UTF-8 or the Korean code page,
    whichever fits all bytes; else UTF-8. ``file`` stands at its beginning afterwards."""
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


def text_lines(file: BinaryIO) -> Iterator[str]:
    """Decoded lines with their ends; ``file`` stays open. Bytes that cannot be decoded become surrogates, in UTF-16 U+FFFD."""
    encoding = encoding_of(file)
    errors = "replace" if encoding.startswith("utf-16") else "surrogateescape"
    wrapper = io.TextIOWrapper(file, encoding, errors=errors, newline="")
    try:
        for number, line in enumerate(wrapper):
            yield line.removeprefix("\ufeff") if number == 0 else line
    finally:
        with suppress(ValueError):  # whoever opened the file has closed it
            wrapper.detach()


def csv_cells(file: BinaryIO) -> Iterator[Cells]:
    """The rows of a CSV file, with commas, semicolons or tabs between the cells."""
    csv.field_size_limit(1 << 24)
    separator = separator_of(list(islice(text_lines(file), _SEEN)))
    file.seek(0)
    reader, number = csv.reader(text_lines(file), delimiter=separator, strict=True), 0
    while True:
        number += 1
        try:
            yield Cells(number, next(reader))
        except StopIteration:
            return
        except csv.Error:
            yield Cells(number, None)


def separator_of(lines: list[str]) -> str:
    """The separator that gives most of the lines the same number of cells, at least two; a comma where none does.

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


def xlsx_cells(file: BinaryIO) -> Iterator[Cells]:
    """The rows of the first sheet that is not hidden; a formula is its stored result, or FORMULA."""
    from openpyxl import load_workbook  # imported here: it takes a third of a second

    try:
        with zipfile.ZipFile(file) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
        if unpacked > UNPACKED:
            raise TableError(
                "unpacked", f"the file would unpack to {unpacked:,} bytes, {UNPACKED:,} are allowed"
            )
        books = [load_workbook(file, read_only=True, data_only=values) for values in (True, False)]
        rows = zip_longest(*map(_rows_of_sheet, books), fillvalue=())
        for number, (values, formulas) in enumerate(rows, start=1):
            yield Cells(number, [_value(*pair) for pair in zip_longest(values, formulas)])
        for book in books:
            book.close()
    except TableError:
        raise
    except Exception as error:  # openpyxl, zipfile and expat raise a dozen kinds
        raise TableError("no_xlsx", f"this is no XLSX file: {type(error).__name__}") from error


def _rows_of_sheet(book: Any) -> Iterator[tuple]:
    sheet = next((each for each in book.worksheets if each.sheet_state == "visible"), book.worksheets[0])
    return sheet.iter_rows(min_row=1, min_col=1, values_only=True)


def _value(value: Any, formula: Any) -> Any:
    from openpyxl.utils.escape import unescape

    if value is None and isinstance(formula, str) and formula.startswith("="):
        return FORMULA
    return unescape(value) if isinstance(value, str) else value
