"""``Sheet``: cells of a worksheet's XML, and the same bytes with other texts in some.

openpyxl writes a workbook anew and loses the parts that it does not know, such as form controls.

Reference:
    ECMA-376 part 1, 18.3.1 (worksheets).
"""

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import escape

from model.tables.documents import spliced
from model.tables.rows import TableError

# XLSX writes characters that XML cannot hold as _x0001_, and texts that look like that, too (ECMA-376,
# 22.9.2.19).
_NOT_IN_XML = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_COLUMNS = 16_384  # of a sheet, the last of which is XFD
_TYPE = re.compile(rb"""\s+t\s*=\s*(?:"[^"]*"|'[^']*')""")
_SPANS = re.compile(rb"""\s+spans\s*=\s*(?:"[^"]*"|'[^']*')""")


def in_xml(text: str) -> str:
    """A text without the characters that a cell of XLSX cannot hold.

    Example:
        >>> in_xml("\\x01")
        '_x0001_'
    """
    return _NOT_IN_XML.sub(lambda found: f"_x{ord(found[0]):04X}_", text)


class _Place(NamedTuple):
    """The bytes of an element: its start tag, and all of it."""

    start: int
    tag_end: int
    end: int


class Sheet:
    """A worksheet. Rows count from 1, columns from 0.

    Raises:
        TableError: for XML that is not well-formed, or not UTF-8.

    Example:
        >>> sheet = Sheet(b'<sheetData><row r="2"><c r="A2" s="3" t="s"><v>0</v></c></row></sheetData>')
        >>> sheet.with_texts({(2, 0): "가"}).decode()[22:-18]
        '<c r="A2" s="3" t="inlineStr"><is><t xml:space="preserve">가</t></is></c>'
    """

    def __init__(self, content: bytes):
        self._content = content
        self._cells: dict[tuple[int, int], _Place] = {}
        self._rows: dict[int, _Place] = {}
        self._formulas: set[tuple[int, int]] = set()
        self._columns = defaultdict[int, list[int]](list)  # with a cell, by row
        self._merged: list[tuple[int, int, int]] = []  # first row, last row, last column
        self._dimension: _Place | None = None
        self._prefix = ""
        self.width = 0  # up to the last column with a value; formats may reach further
        try:
            content.decode()
            self._parse()
        except (expat.ExpatError, ValueError) as error:
            raise TableError("no_xlsx", f"this is no worksheet: {type(error).__name__}") from error

    def _parse(self) -> None:
        from openpyxl.utils.cell import coordinate_to_tuple, range_boundaries  # it takes a third of a second

        parser, begun = expat.ParserCreate(), list[_Place]()
        row, column = 0, -1

        def start(name: str, attributes: dict[str, str]) -> None:
            nonlocal row, column
            place = parser.CurrentByteIndex
            begun.append(_Place(place, self._content.index(b">", place) + 1, 0))
            local = name.rpartition(":")[2]
            if local == "row":
                row, column = int(attributes.get("r", row + 1)), -1
            elif local == "c":
                column = coordinate_to_tuple(attributes["r"])[1] - 1 if "r" in attributes else column + 1
                self._prefix = name[:-1]
            elif local == "f":
                self._formulas.add((row, column))
            elif local == "mergeCell":
                _, first, last_column, last = range_boundaries(attributes["ref"])
                self._merged.append((first, last, last_column - 1))

        def end(name: str) -> None:
            place = begun.pop()
            is_empty = self._content.startswith(b"/>", place.tag_end - 2)
            at = self._content.index(b">", parser.CurrentByteIndex) + 1 if not is_empty else place.tag_end
            place = place._replace(end=at)
            local = name.rpartition(":")[2]
            if local == "row":
                self._rows[row] = place
            elif local == "c":
                self._cells[row, column] = place
                self._columns[row].append(column)
            elif local in ("f", "is", "v") and not is_empty and parser.CurrentByteIndex > place.tag_end:
                self.width = max(self.width, column + 1)
            elif local == "dimension":
                self._dimension = place

        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.Parse(self._content, True)

    def free_column(self, rows: Collection[int]) -> int:
        """The first column behind all values that no merged cell covers in these rows.

        Raises:
            TableError: for a sheet whose last column is taken.
        """
        column = max(
            (last + 1 for a, b, last in self._merged if any(row in rows for row in range(a, b + 1))),
            default=0,
        )
        if max(column, self.width) >= _COLUMNS:
            raise TableError("no_room", "the sheet has no free column on the right; use --layout in-place")
        return max(column, self.width)

    def with_texts(self, texts: Mapping[tuple[int, int], str]) -> bytes:
        """The sheet with texts by (row, column). A cell keeps its format; one with a formula stays."""
        edits = [edit for place, text in texts.items() for edit in self._edits(place, text)]
        if self._dimension and any(column >= self.width for _, column in texts):
            edits.append((self._dimension.start, self._dimension.end, b""))  # it would cut the new column off
        return spliced(self._content, edits)

    def _edits(self, place: tuple[int, int], text: str) -> Iterator[tuple[int, int, bytes]]:
        """The bytes that are replaced, from where to where and by which."""
        from openpyxl.utils.cell import get_column_letter

        if place in self._formulas:
            return
        p, (row, column) = self._prefix, place
        text = f'<{p}is><{p}t xml:space="preserve">{escape(in_xml(text))}</{p}t></{p}is></{p}c>'
        cell = self._cells.get(place)
        if cell is not None:
            tag = self._content[cell.start : cell.tag_end].rstrip(b"/> \t\r\n")
            yield cell.start, cell.end, _TYPE.sub(b"", tag) + b' t="inlineStr">' + text.encode()
        elif row in self._rows:
            found = self._rows[row]
            tag = self._content[found.start : found.tag_end]
            if found.tag_end < found.end:
                yield found.start, found.tag_end, _SPANS.sub(b"", tag)
                columns = self._columns[row]
                following = bisect(columns, column)
                at = (
                    self._cells[row, columns[following]].start
                    if following < len(columns)
                    else self._content.rindex(b"</", found.start, found.end)
                )
                yield at, at, f'<{p}c r="{get_column_letter(column + 1)}{row}" t="inlineStr">{text}'.encode()
