"""Files of many texts, such as a class writes: read row by row, corrected, and written for spreadsheets.

``read_rows`` -> ``correct_rows`` -> a writer of ``model.tables.correcting``; ``model.tables.correcting`` goes on where a
run was interrupted. Nothing here keeps more than a few hundred rows in memory.
"""

from model.tables.correcting import AND, CorrectedRow, TableCounts, change_kinds, correct_rows
from model.tables.reading import PROBLEMS, Columns, TableError, TableRow, count_rows, read_columns, read_rows

__all__ = [
    "AND",
    "PROBLEMS",
    "Columns",
    "CorrectedRow",
    "TableCounts",
    "TableError",
    "TableRow",
    "change_kinds",
    "correct_rows",
    "count_rows",
    "read_columns",
    "read_rows",
]
