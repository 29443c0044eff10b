"""Files of many texts on their way through the network: in the server's memory alone, and no longer than they are needed.

Whoever drops the same file again, in another tab or after a break, finds what has been corrected so far.
"""

from __future__ import annotations

import hashlib
import io
import time
from collections import OrderedDict
from threading import Lock, Thread
from typing import TYPE_CHECKING

from engine.errors import EngineError
from model.tables import CorrectedRow, Counts, Row, read_rows

if TYPE_CHECKING:
    from ui.loaders import EngineCorrector

MOST_ROWS = 10_000  # of one file; the command takes any number
MOST_CHARACTERS = 2_000  # of one row, as of a text that is typed
TOGETHER = 48  # rows of one question; between two of them others are answered
KEPT = 4  # files
_PATIENCE = 5  # attempts, a second apart, where the network is busy or has been lost


class TooManyRowsError(ValueError):
    """The file has more than MOST_ROWS rows."""


class TableJob:
    """One file. ``done`` grows while a thread corrects it; reading it needs no lock."""

    def __init__(self, rows: list[Row], corrector: EngineCorrector):
        self.rows, self.done, self.counts = rows, [], Counts()
        self.error: Exception | None = None
        self.started = time.monotonic()
        self._corrector, self._stopped = corrector, False
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        return len(self.done) == len(self.rows) or self.error is not None

    @property
    def seconds_left(self) -> float | None:
        """As the pace so far lets expect; None at the beginning."""
        count = len(self.done)
        return (time.monotonic() - self.started) / count * (len(self.rows) - count) if count else None

    def stop(self) -> None:
        """Correct no further."""
        self._stopped = True

    def _run(self) -> None:
        for first in range(0, len(self.rows), TOGETHER):
            if self._stopped:
                return
            batch = self.rows[first : first + TOGETHER]
            texts = tuple(row.text for row in batch if row.problem is None)
            try:
                answers = iter(self._ask(texts) if texts else ())
            except Exception as error:  # noqa: BLE001  the page tells it
                self.error = error
                return
            for row in batch:
                done = CorrectedRow(row, "", ()) if row.problem else CorrectedRow(row, *next(answers))
                self.counts.add(done)
                self.done.append(done)

    def _ask(self, texts: tuple[str, ...]):
        for _ in range(_PATIENCE - 1):
            try:
                return self._corrector.ask("table", texts)
            except EngineError:
                time.sleep(1)
        return self._corrector.ask("table", texts)


class Tables:
    """The files that were dropped lately, by their content and the model; the oldest one makes room."""

    def __init__(self, kept: int = KEPT):
        self._kept, self._jobs, self._lock = kept, OrderedDict(), Lock()

    def job(self, content: bytes, name: str, corrector: EngineCorrector) -> TableJob:
        """The job of this file, begun where there is none or where it failed.

        Raises model.tables.TableError for a file that is no table, and TooManyRowsError.
        """
        key = hashlib.sha256(content).hexdigest(), name.rpartition(".")[2].lower(), corrector.fingerprint
        with self._lock:
            found = self._jobs.get(key)
            if found is None or found.error is not None:
                found = self._jobs[key] = TableJob(_rows(content, name), corrector)
            self._jobs.move_to_end(key)
            while len(self._jobs) > self._kept:
                _, oldest = self._jobs.popitem(last=False)
                oldest.stop()
        return found


def _rows(content: bytes, name: str) -> list[Row]:
    rows = []
    for row in read_rows(io.BytesIO(content), name):
        if len(rows) == MOST_ROWS:
            raise TooManyRowsError(f"a file should have at most {MOST_ROWS:,} rows, received more")
        rows.append(row if len(row.text) <= MOST_CHARACTERS else Row(row.number, "", "too_long"))
    return rows
