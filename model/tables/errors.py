"""The list of what can be wrong with a file as a whole, and with one of its rows."""

LONGEST = 32_767  # characters of one cell: what XLSX allows

# What can be wrong with a row. The keys are for programs, the values for people at a command line.
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
FILE_PROBLEMS = ("format", "no_xlsx", "unpacked", "no_column", "which_column")


class TableError(ValueError):
    """A file cannot be read as a table; the message says why, and ``problem``, one of FILE_PROBLEMS, to programs."""

    def __init__(self, problem: str, message: str):
        super().__init__(message)
        self.problem = problem
