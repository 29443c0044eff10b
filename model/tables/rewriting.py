"""``SameTable``: a CSV, XLSX or TXT file with its texts corrected, and all else as it was.

The corrected texts are put beside the others or in their place.
Rows, their order, other cells, quotes, separator, encoding, byte order mark and line ends stay, and in XLSX
formats, pictures and all other sheets.
"""

import codecs
import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from model.tables.correcting import CorrectedRow
from model.tables.documents import rewritten
from model.tables.reading import csv_records, csv_separator, encoding_of, read_columns, sheet_part, text_lines
from model.tables.rows import SURROGATE, without_formula
from model.tables.sheets import Sheet

SAME = (".csv", ".txt", ".xlsx")  # the formats that can be written as they were read
NAME = "corrected"  # of the column beside the texts

Line = TypeVar("Line")
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class SameTable:
    """The open ``file`` called ``name`` with other texts in ``column``, as ``read_rows`` chooses it.

    The lines of a TXT file are always corrected in their place. In CSV the cell beside a text begins with an
    apostrophe where a spreadsheet would calculate it. In XLSX the corrected texts are the last column, and a
    cell with a formula keeps it.
    """

    file: BinaryIO
    name: str
    column: str | None
    in_place: bool

    def write(self, result: BinaryIO, rows: Iterable[CorrectedRow]) -> None:
        """Write the file with the corrections of ``rows``, which are in its order.

        Raises:
            UnicodeEncodeError: for a corrected text that the file's encoding does not have.
        """
        suffix = Path(self.name).suffix.lower()
        if suffix == ".xlsx":
            result.write(self._workbook(rows))
            return
        self.file.seek(0)
        beginning = self.file.read(3)
        encoding = encoding_of(self.file).removesuffix("-sig")
        result.write(next((mark for mark in _MARKS if beginning.startswith(mark)), b""))
        lines = self._csv_lines if suffix == ".csv" else self._text_lines
        result.writelines(line.encode(encoding, "surrogateescape") for line in lines(iter(rows)))

    def _workbook(self, rows: Iterable[CorrectedRow]) -> bytes:
        columns = read_columns(self.file, self.name, self.column)
        part = sheet_part(self.file)
        with zipfile.ZipFile(self.file) as archive:
            sheet = Sheet(archive.read(part))
        texts = dict[tuple[int, int], str]()
        if columns is not None and columns.chosen is not None:
            right = [each for each in rows if each.row.problem is None and (each.kinds or not self.in_place)]
            cells = {each.row.number: SURROGATE.sub("\ufffd", each.corrected) for each in right}
            if cells and columns.header and not self.in_place:
                cells[columns.header] = NAME
            place = columns.chosen if self.in_place else sheet.free_column(cells)
            texts = {(row, place): text for row, text in cells.items()}
        return rewritten(self.file, {part: sheet.with_texts(texts)})

    def _text_lines(self, rows: Iterator[CorrectedRow]) -> Iterator[str]:
        for _, line, done in _beside(text_lines(self.file), rows):
            body = line.rstrip("\r\n")
            yield line if done is None or not done.kinds else done.corrected + line[len(body) :]

    def _csv_lines(self, rows: Iterator[CorrectedRow]) -> Iterator[str]:
        columns = read_columns(self.file, self.name, self.column)
        place = None if columns is None else columns.chosen
        separator = csv_separator(self.file)
        for number, (written, cells), done in _beside(csv_records(self.file, separator), rows):
            if columns is None or place is None or cells is None or len(cells) <= place:
                yield written
                continue
            row = _WrittenRow(written, cells, separator)
            is_read = done is not None and done.row.problem is None
            text = done.row.text if done is not None and is_read else cells[place]
            # The last cell may be part of a text with separators that were not quoted.
            end = len(cells) if text != cells[place] else place + 1
            if self.in_place:
                yield row.with_cells(place, end, [done.corrected]) if done and done.kinds else written
            elif number == columns.header:
                yield row.with_cells(end, end, [NAME])
            elif done is None or not is_read:
                yield row.with_cells(end, end, [""])
            else:
                cells = [without_formula(done.corrected)]
                yield (
                    row.with_cells(place, end, [text, *cells])
                    if end > place + 1
                    else row.with_cells(end, end, cells)
                )


def _beside(
    lines: Iterable[Line], rows: Iterator[CorrectedRow]
) -> Iterator[tuple[int, Line, CorrectedRow | None]]:
    """(number, line, row) for each of ``lines``, from 1; None for a line that no row of ``rows`` is of."""
    waiting = next(rows, None)
    for number, line in enumerate(lines, start=1):
        done = None
        if waiting is not None and waiting.row.number == number:
            done, waiting = waiting, next(rows, None)
        yield number, line, done


@dataclass(frozen=True)
class _WrittenRow:
    """A row as it is written, and its cells."""

    written: str
    cells: Sequence[str]
    separator: str

    def with_cells(self, first: int, last: int, cells: Sequence[str]) -> str:
        """The row with ``cells`` in place of ``self.cells[first:last]``; the others stay as they are written.
        New cells are quoted as the one before is.

        Example:
            >>> _WrittenRow("1;'가'\\n", ["1", "'가'"], ";").with_cells(2, 2, ["나"])
            "1;'가';나\\n"
        """
        fields = self._fields()
        end = self.written[len(self.written.rstrip("\r\n")) :]
        if fields is None:  # written in a way of its own, which only the parser understands
            file = io.StringIO()
            made = csv.writer(file, delimiter=self.separator, lineterminator=end)
            made.writerow([*self.cells[:first], *cells, *self.cells[last:]])
            return file.getvalue()
        is_quoted = fields[last - 1].startswith('"')
        added = [self._as_field(cell, is_quoted) for cell in cells]
        return self.separator.join([*fields[:first], *added, *fields[last:]]) + end

    def _as_field(self, cell: str, is_quoted: bool) -> str:
        if is_quoted or any(sign in cell for sign in f'{self.separator}"\r\n'):
            cell = cell.replace('"', '""')
            return f'"{cell}"'
        return cell

    def _fields(self) -> list[str] | None:
        """The cells as they are written; None where they are not those that were read."""
        fields, place = list[str](), 0
        pattern = re.compile(rf'"(?:[^"]|"")*"|[^{re.escape(self.separator)}\r\n]*')
        while match := pattern.match(self.written, place):
            fields.append(match[0])
            place = match.end() + 1
            if self.written[match.end() : place] != self.separator:
                break
        read = [field[1:-1].replace('""', '"') if field.startswith('"') else field for field in fields]
        return fields if read == list(self.cells) else None
