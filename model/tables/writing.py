"""Writes corrected rows as CSV and XLSX so that a spreadsheet shows each cell as text and never runs it as a formula."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from model.tables.correcting import CorrectedRow
from model.tables.errors import LONGEST

if TYPE_CHECKING:
    from openpyxl.cell import WriteOnlyCell

COLUMNS = ("row", "text", "corrected", "changes", "kinds", "problem")


class Wording(NamedTuple):
    """The words of a file. The defaults are for programs: codes as they are.

    ``columns``: a heading for each of COLUMNS. ``kinds``: the kinds of all changes of a row, as ``CorrectedRow.kinds`` has
    them, as one text. ``problem``: one of ``errors.PROBLEMS`` as a text.
    """

    columns: tuple[str, ...] = COLUMNS
    kinds: Callable[[tuple[str, ...]], str] = " ".join
    problem: Callable[[str], str] = str


CODES = Wording()

# What a spreadsheet may take for the beginning of a formula: OWASP's list for CSV injection.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_SURROGATE = re.compile("[\ud800-\udfff]")
# What XML cannot hold stands in XLSX as _x0001_, and so does what looks like that (ECMA-376, 22.9.2.19).
_NOT_IN_XML = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


def header(wording: Wording = CODES, others: Sequence[str] = ()) -> tuple[str, ...]:
    """The headings of a file: COLUMNS, with the ``others`` of the file that was read after the first, the number of the row."""
    first, *rest = wording.columns
    return first, *others, *rest


def cells(done: CorrectedRow, wording: Wording = CODES, others: int = 0) -> tuple[int | str, ...]:
    """One row below ``header`` with that many ``others``."""
    row = done.row
    problem = wording.problem(row.problem) if row.problem else ""
    kept = (*row.others, *[""] * others)[:others]
    return row.number, *kept, row.text, done.corrected, len(done.kinds), wording.kinds(done.kinds), problem


def without_formula(text: str) -> str:
    """``text`` for a CSV file: an apostrophe stands in front of what a spreadsheet would calculate. Halves of surrogate pairs,
    which no file can hold, become U+FFFD.

    >>> without_formula("=1+1"), without_formula("밥")
    ("'=1+1", '밥')
    """
    text = _SURROGATE.sub("\ufffd", text)
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text


class CsvWriter:
    """Writes ``header`` and rows to ``file`` as UTF-8 with a byte order mark, by which Excel knows the encoding.

    The file stays open. ``close`` writes nothing more.
    """

    def __init__(self, file: BinaryIO, wording: Wording = CODES, others: Sequence[str] = ()):
        self._wording, self._others = wording, len(others)
        self._text = io.TextIOWrapper(file, "utf-8-sig", newline="", write_through=True)
        self._writer = csv.writer(self._text, quoting=csv.QUOTE_ALL)
        self._writer.writerow([without_formula(name) for name in header(wording, others)])

    def write(self, done: CorrectedRow) -> None:
        self._writer.writerow(
            [
                without_formula(cell) if isinstance(cell, str) else cell
                for cell in cells(done, self._wording, self._others)
            ]
        )

    def close(self) -> None:
        self._text.detach()


class XlsxWriter:
    """Writes ``header`` and rows to ``file``; every text is a text cell, whatever it begins with. A text of more than LONGEST
    characters is cut, and ends in "…".
    """

    def __init__(self, file: BinaryIO, wording: Wording = CODES, others: Sequence[str] = ()):
        from openpyxl import Workbook

        self._file, self._book, self._wording = file, Workbook(write_only=True), wording
        self._others = len(others)
        self._sheet = self._book.create_sheet("corrections")
        self._sheet.append([self._text(name) for name in header(wording, others)])

    def write(self, done: CorrectedRow) -> None:
        self._sheet.append(
            [
                self._text(cell) if isinstance(cell, str) else cell
                for cell in cells(done, self._wording, self._others)
            ]
        )

    def close(self) -> None:
        self._book.save(self._file)

    def _text(self, value: str) -> "WriteOnlyCell":
        from openpyxl.cell import WriteOnlyCell

        value = _NOT_IN_XML.sub(lambda found: f"_x{ord(found[0]):04X}_", _SURROGATE.sub("\ufffd", value))
        cell = WriteOnlyCell(self._sheet, value if len(value) <= LONGEST else f"{value[: LONGEST - 1]}…")
        cell.data_type, cell.number_format, cell.quotePrefix = "s", "@", True
        return cell


WRITERS: dict[str, type[CsvWriter] | type[XlsxWriter]] = {".csv": CsvWriter, ".xlsx": XlsxWriter}


def as_bytes(
    rows: Iterable[CorrectedRow], suffix: str, wording: Wording = CODES, others: Sequence[str] = ()
) -> bytes:
    """A whole file of one of WRITERS, for a download."""
    file = io.BytesIO()
    writer = WRITERS[suffix](file, wording, others)
    for done in rows:
        writer.write(done)
    writer.close()
    return file.getvalue()
