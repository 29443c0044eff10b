"""Resumes a long run over a file where it was interrupted.

Beside the result lies ``<result>.part`` while the run lasts: one line of JSON that says what is done to which
file, then one line for each finished row. It is renamed or converted at the end, so that the result is whole or
not there.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO, Self

from model.correction.answers import Answers
from model.stored.folder import write_atomically
from model.tables.correcting import CorrectedRow
from model.tables.reading import TableRow
from model.tables.writing import WRITERS


@dataclass(frozen=True)
class ResumableJob:
    """What a partial result belongs to. If anything in it differs, the run begins anew."""

    sha256: str  # of the file that is corrected
    column: str | None
    fingerprint: str  # of the model
    minimum_confidence: float

    @classmethod
    def of(cls, file: BufferedIOBase, column: str | None, corrector: Answers) -> "ResumableJob":
        """``file`` stands at its beginning afterwards."""
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        return cls(digest, column, corrector.fingerprint, corrector.minimum_confidence)


class PartialResult:
    """The finished rows of ``job``, on their way to the file ``result``. Use as a context manager."""

    def __init__(self, result: Path, job: ResumableJob, others: Sequence[str] = ()):
        """``others``: what the other columns of the file are called, which the result keeps."""
        if result.suffix.lower() not in WRITERS:
            raise ValueError(f"{result.name!r} should end in one of {', '.join(WRITERS)}")
        self._others = tuple(others)
        self._result, self.path = result, result.with_name(f"{result.name}.part")
        self.finished = _whole_lines(self.path, job)  # rows
        if not self.finished:
            self.path.write_text(json.dumps(asdict(job)) + "\n", encoding="ascii")
        self._file = self.path.open("a", encoding="ascii")

    def add(self, done: CorrectedRow) -> None:
        number, text, problem, others = done.row
        self._file.write(json.dumps([number, text, problem, done.corrected, done.kinds, others]) + "\n")

    def flush(self) -> None:
        """Write out what was added, so that it survives the end of this process."""
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
        """Write the result, and remove what is partial."""

        def write(file: BinaryIO) -> None:
            writer = WRITERS[self._result.suffix.lower()](file, others=self._others)
            for done in self.rows():
                writer.write(done)
            writer.close()

        write_atomically(self._result, write)
        self._file.close()
        self.path.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _whole_lines(path: Path, job: ResumableJob) -> int:
    """How many rows of this job the file at ``path`` holds; half a line at its end is cut off."""
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
