"""Correction of table rows, and writers of CSV and XLSX; a stopped run can be resumed.

A spreadsheet shows each written cell as text and never runs it as a formula. Beside the result lies
``<result>.part`` while the run lasts: one line of JSON with the job, then one line for each finished row. It
is converted at the end, so that the result is whole or missing.
"""

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from io import BufferedIOBase
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

from model.analysis.kinds import AND, SCHOOL_KINDS, place_kinds
from model.correction.answers import Answers, AnswersMany
from model.stored.folder import write_atomically
from model.tables.rows import LONGEST, SURROGATE, TableRow, without_formula
from model.tables.sheets import in_xml

TOGETHER = 256  # rows: texts of alike lengths among them are corrected in one batch


class CorrectedRow(NamedTuple):
    """A row, its corrected text, and the kinds of its corrected places.

    ``kinds`` has one word for each place, in their order: its kind, or all of them with AND between. A bad
    row has none, and its ``corrected`` is empty.
    """

    row: TableRow
    corrected: str
    kinds: tuple[str, ...]


@dataclass
class TableCounts:
    """The counts over all rows so far."""

    rows: int = 0
    changed: int = 0
    kinds: Counter = field(default_factory=Counter)  # places by SCHOOL_KINDS; of several, by the first
    problems: list[tuple[int, str]] = field(default_factory=list)  # the first ones' (row number, problem)
    bad: int = 0

    def add(self, done: CorrectedRow, most_problems: int = 1000) -> None:
        """Count one more row; at most ``most_problems`` problems are kept."""
        self.rows += 1
        self.changed += bool(done.kinds)
        self.kinds.update(kinds.split(AND)[0] for kinds in done.kinds)
        if done.row.problem is not None:
            self.bad += 1
            if len(self.problems) < most_problems:
                self.problems.append((done.row.number, done.row.problem))

    def by_kind(self) -> dict[str, int]:
        """Every kind with its number of places, 0 included, in the order of SCHOOL_KINDS.

        >>> TableCounts().by_kind()["spacing"]
        0
        """
        return {kind: self.kinds[kind] for kind in SCHOOL_KINDS}


def correct_rows(
    corrector: AnswersMany, rows: Iterable[TableRow], together: int = TOGETHER
) -> Iterator[CorrectedRow]:
    """Correct each row, in order, ``together`` at once.

    The first answer comes after that many rows, and a caller that stops early loses at most the work of that
    many.

    Example:
        >>> [done.corrected for done in correct_rows(corrector, [TableRow(1, "머거요.", None)])]
        ['먹어요.']
    """
    rows = iter(rows)
    while batch := list(islice(rows, together)):
        readable = [row.text for row in batch if row.problem is None]
        corrections = iter(corrector.correct_batch(readable) if readable else ())
        for row in batch:
            if row.problem:
                yield CorrectedRow(row, "", ())
            else:
                correction = next(corrections)
                yield CorrectedRow(row, correction.text, place_kinds(correction))


COLUMNS = ("row", "text", "corrected", "changes", "kinds", "problem")


class Wording(NamedTuple):
    """The words of a file. The defaults are for programs: codes as they are.

    ``columns``: a heading for each of COLUMNS. ``kinds``: the kinds of all changes of a row, as
    ``CorrectedRow.kinds`` has them, as one text. ``problem``: one of PROBLEMS as a text.
    """

    columns: tuple[str, ...] = COLUMNS
    kinds: Callable[[tuple[str, ...]], str] = " ".join
    problem: Callable[[str], str] = str


CODES = Wording()


def table_rows(
    rows: Iterable[CorrectedRow], wording: Wording = CODES, others: Sequence[str] = ()
) -> Iterator[tuple[int | str, ...]]:
    """The headings, COLUMNS with the ``others`` of the file that was read after the row's number; the rows.

    >>> [*table_rows([CorrectedRow(TableRow(2, "머거요", None), "먹어요", ("liaison",))])][1]
    (2, '머거요', '먹어요', 1, 'liaison', '')
    """
    first, *rest = wording.columns
    yield first, *others, *rest
    for done in rows:
        row, kinds = done.row, wording.kinds(done.kinds)
        problem = wording.problem(row.problem) if row.problem else ""
        kept = (*row.others, *[""] * len(others))[: len(others)]
        yield row.number, *kept, row.text, done.corrected, len(done.kinds), kinds, problem


def write_csv(
    file: BinaryIO, rows: Iterable[CorrectedRow], wording: Wording = CODES, others: Sequence[str] = ()
) -> None:
    """Write ``header`` and rows as UTF-8 with a byte order mark, by which Excel knows the encoding.

    The file stays open.
    """
    text = io.TextIOWrapper(file, "utf-8-sig", newline="", write_through=True)
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    for row in table_rows(rows, wording, others):
        writer.writerow([without_formula(cell) if isinstance(cell, str) else cell for cell in row])
    text.detach()


def write_xlsx(
    file: BinaryIO, rows: Iterable[CorrectedRow], wording: Wording = CODES, others: Sequence[str] = ()
) -> None:
    """Write ``header`` and rows; every text is a text cell.

    A text of more than LONGEST characters is cut, and ends in "…".
    """
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    sheet = book.create_sheet("corrections")

    def text_cell(value: str) -> WriteOnlyCell:
        value = in_xml(SURROGATE.sub("\ufffd", value))
        cell = WriteOnlyCell(sheet, value if len(value) <= LONGEST else f"{value[: LONGEST - 1]}…")
        cell.data_type, cell.number_format, cell.quotePrefix = "s", "@", True
        return cell

    for row in table_rows(rows, wording, others):
        sheet.append([text_cell(cell) if isinstance(cell, str) else cell for cell in row])
    book.save(file)


WriteRows = Callable[[BinaryIO, Iterable[CorrectedRow]], None]
WRITERS = {".csv": write_csv, ".xlsx": write_xlsx}


def report_writer(result: Path, others: Sequence[str] = ()) -> WriteRows:
    """A function that writes rows with their number, changes, kinds and problem.

    Args:
        others: the names of the other columns, which are kept.

    Raises:
        ValueError: for a ``result`` whose name ends in none of WRITERS.
    """
    if result.suffix.lower() not in WRITERS:
        raise ValueError(f"{result.name!r} should end in one of {', '.join(WRITERS)}")
    return partial(WRITERS[result.suffix.lower()], others=others)


def as_bytes(
    rows: Iterable[CorrectedRow], suffix: str, wording: Wording = CODES, others: Sequence[str] = ()
) -> bytes:
    """A whole file of one of WRITERS, for a download.

    >>> row = CorrectedRow(TableRow(2, "머거요", None), "먹어요", ())
    >>> as_bytes([row], ".csv").decode("utf-8-sig").split()[1]
    '"2","머거요","먹어요","0","",""'
    """
    file = io.BytesIO()
    WRITERS[suffix](file, rows, wording, others)
    return file.getvalue()


@dataclass(frozen=True)
class ResumableJob:
    """The identity of a partial result. If anything in it differs, the run begins anew."""

    sha256: str  # of the file that is corrected
    column: str | None
    fingerprint: str  # of the model
    minimum_confidence: float

    @classmethod
    def of(cls, file: BufferedIOBase, column: str | None, corrector: Answers) -> "ResumableJob":
        """The job of correcting ``file``, which is at its beginning afterwards.

        Raises:
            OSError: for a file that cannot be read.
        """
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        return cls(digest, column, corrector.fingerprint, corrector.minimum_confidence)


class PartialResult:
    """The finished rows of ``job``, on their way to the file ``result``. Use as a context manager."""

    def __init__(self, result: Path, job: ResumableJob, write: WriteRows | None = None):
        """``write``: writes the result; by default a writer of WRITERS, without other columns."""
        self._write = write or report_writer(result)
        self._result, self.path = result, result.with_name(f"{result.name}.part")
        self.finished = _whole_lines(self.path, job)  # rows
        if not self.finished:
            self.path.write_text(json.dumps(asdict(job)) + "\n", encoding="ascii")
        self._file = self.path.open("a", encoding="ascii")

    def add(self, done: CorrectedRow) -> None:
        """Keep one more finished row."""
        number, text, problem, others = done.row
        self._file.write(json.dumps([number, text, problem, done.corrected, done.kinds, others]) + "\n")

    def flush(self) -> None:
        """Write all added rows out, so that they survive the end of this process."""
        self._file.flush()

    def rows(self) -> Iterator[CorrectedRow]:
        """All finished rows, in order."""
        self.flush()
        with self.path.open(encoding="ascii") as file:
            next(file)
            for line in file:
                number, text, problem, corrected, kinds, others = json.loads(line)
                yield CorrectedRow(TableRow(number, text, problem, tuple(others)), corrected, tuple(kinds))

    def finish(self) -> None:
        """Write the result, and remove the partial file.

        Raises:
            OSError: for a result that cannot be written.
        """

        write_atomically(self._result, lambda file: self._write(file, self.rows()))
        self._file.close()
        self.path.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _whole_lines(path: Path, job: ResumableJob) -> int:
    """The number of rows of this job in the file at ``path``; half a line at its end is cut off."""
    try:
        with path.open("rb+") as file:
            if json.loads(file.readline()) != asdict(job):
                return 0
            rows, end = 0, file.tell()
            for line in file:
                if not line.endswith(b"\n"):
                    break
                rows, end = rows + 1, end + len(line)
            file.truncate(end)
            return rows
    except (OSError, ValueError):
        return 0
