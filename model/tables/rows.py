"""``TableRow`` and ``TableError`` of a file of texts; ``without_formula`` against CSV injection."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from zipfile import ZipFile

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
FILE_PROBLEMS = (
    *("format", "no_xlsx", "unpacked", "no_column", "which_column"),
    *("no_document", "old_document", "encrypted", "signed", "no_room"),
)


class TableError(ValueError):
    """A file that cannot be read as a table: ``problem``, one of FILE_PROBLEMS, and a message for people."""

    def __init__(self, problem: str, message: str):
        super().__init__(message)
        self.problem = problem


def check_unpacked(archive: ZipFile, most: int) -> None:
    """Raise TableError for an archive that would unpack to more than ``most`` bytes."""
    unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > most:
        raise TableError("unpacked", f"the file would unpack to {unpacked:,} bytes, {most:,} are allowed")


class TableRow(NamedTuple):
    """A row: its ``number`` in a spreadsheet, from 1 with the header, its text, and the other cells as texts.

    The text of a row with a ``problem``, one of PROBLEMS, is empty.
    """

    number: int
    text: str
    problem: str | None = None
    others: tuple[str, ...] = ()


def row_of(number: int, text: str, others: tuple[str, ...] = ()) -> Iterator[TableRow]:
    """The row of a text; none for white space.

    >>> next(row_of(3, "밥")).number
    3
    """
    if any("\udc80" <= character <= "\udcff" for character in text):
        yield TableRow(number, "", "encoding", others)
    elif len(text) > LONGEST:
        yield TableRow(number, "", "too_long", others)
    elif text.strip():
        yield TableRow(number, text, None, others)


# Beginnings of formulas in spreadsheets: OWASP's list for CSV injection.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
SURROGATE = re.compile("[\ud800-\udfff]")


def without_formula(text: str) -> str:
    """``text`` for a CSV file, with an apostrophe before anything that a spreadsheet would calculate.

    Halves of surrogate pairs, which no file can hold, become U+FFFD.

    >>> without_formula("=1+1"), without_formula("밥")
    ("'=1+1", '밥')
    """
    text = SURROGATE.sub("\ufffd", text)
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text
