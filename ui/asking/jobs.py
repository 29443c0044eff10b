"""Works through a visitor's file in a thread, a few rows at a time, so that other visitors are answered in between.

Files stay in memory and are never written to a disk: all that are being worked on, and the last few that are done. A visitor who drops
the same file again, in another tab or after a break, finds what has been done so far.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from engine.errors import EngineError

if TYPE_CHECKING:
    from ui.asking.loaders import EngineCorrector

MOST_CHARACTERS = 2_000  # of one row, as of a text that is typed
KEPT = 4  # files that are done, besides those under way
_PATIENCE = 5  # attempts, a second apart, where the network is busy or has been lost


class TooManyRowsError(ValueError):
    """The file has more rows than a page takes."""


Item = TypeVar("Item")


def at_most(rows: Iterable[Item], most: int) -> Iterator[Item]:
    """The rows of a file. Raises TooManyRowsError where there are more than ``most``; the rest is not read."""
    for number, row in enumerate(rows):
        if number == most:
            raise TooManyRowsError(f"a file should have at most {most:,} rows, received more")
        yield row


class Job:
    """Works on one file in a thread. A subclass says how in ``work``, and has its own fields ready before that begins.

    ``work`` asks for a little at a time, so that other visitors are answered in between.
    """

    def __init__(self, corrector: EngineCorrector):
        self.error: Exception | None = None
        self._corrector = corrector
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether everything is done, or an ``error`` has ended the job."""
        raise NotImplementedError

    def work(self) -> None:
        raise NotImplementedError

    def ask(self, kind: str, *arguments: Hashable) -> Any:
        """The engine's answer; raises EngineError where none comes, however often it is asked."""
        for _ in range(_PATIENCE - 1):
            try:
                return self._corrector.ask(kind, *arguments)
            except EngineError:
                time.sleep(1)
        return self._corrector.ask(kind, *arguments)

    def _run(self) -> None:
        try:
            self.work()
        except Exception as error:  # noqa: BLE001  the page shows it
            self.error = error


AnyJob = TypeVar("AnyJob", bound=Job)


class Jobs(Generic[AnyJob]):
    """The files that were dropped lately, by their content and the model.

    All that are being worked on stay, because somebody waits for them. Of those that are done, the last ``kept`` stay.
    """

    def __init__(self, begin: Callable[[bytes, str, EngineCorrector, str | None], AnyJob], kept: int = KEPT):
        self._begin, self._kept = begin, kept
        # A Future is done when its file has been read.
        self._jobs: OrderedDict[tuple, Future[AnyJob]] = OrderedDict()
        self._lock = Lock()

    def job(self, content: bytes, name: str, corrector: EngineCorrector, column: str | None = None) -> AnyJob:
        """The job of this file and column; it is started if there is none or if it failed. Raises what ``begin`` raises."""
        suffix = name.rpartition(".")[2].lower()
        key = hashlib.sha256(content).hexdigest(), suffix, corrector.fingerprint, column
        mine: Future[AnyJob] = Future()
        with self._lock:
            found = self._jobs.setdefault(key, mine)
            if found.done() and found.result().error is not None:
                found = self._jobs[key] = mine
            self._jobs.move_to_end(key)
        if found is mine:
            try:  # without the lock, for reading a large file takes seconds
                mine.set_result(self._begin(content, name, corrector, column))
            except BaseException as error:
                with self._lock:
                    del self._jobs[key]
                mine.set_exception(error)  # for whoever dropped the same file meanwhile
                raise
            self._make_room()
        return found.result()

    def _make_room(self) -> None:
        with self._lock:
            over = [key for key, each in self._jobs.items() if each.done() and each.result().is_over]
            for key in over[: max(len(over) - self._kept, 0)]:
                del self._jobs[key]
