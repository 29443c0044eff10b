"""Helpers for tables of texts: make an XLSX workbook, read a file's rows."""

import io

from openpyxl import Workbook

from model.tables.reading import read_rows


def xlsx(*rows) -> bytes:
    book, file = Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(file)
    return file.getvalue()


def read(content, name="in.csv", column=None):
    content = content.encode() if isinstance(content, str) else content
    return [row._replace(others=()) for row in rows_of(content, name, column)]


def rows_of(content, name="in.csv", column=None):
    """With the other columns."""
    content = content.encode() if isinstance(content, str) else content
    return list(read_rows(io.BytesIO(content), name, column))
