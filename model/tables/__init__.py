"""Tables of texts (CSV, TXT, XLSX): read row by row, corrected, and written again.

``read_rows`` -> ``correct_rows`` -> a writer of ``WRITERS``; ``PartialResult`` resumes an interrupted run. At
most a few hundred rows are in memory.
"""

from model.tables.columns import Columns
from model.tables.correcting import AND, CorrectedRow, TableCounts, change_kinds, correct_rows
from model.tables.reading import count_rows, read_columns, read_rows
from model.tables.rows import PROBLEMS, TableError, TableRow

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
