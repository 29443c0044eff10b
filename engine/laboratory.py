"""A worker that starts when it is first needed and ends when nobody has asked it for a while."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Timer

from engine.errors import EngineDiedError
from engine.line import Line

REST = 600.0  # seconds without a question, after which the worker ends: TensorFlow holds a gigabyte


class Laboratory:
    """The line to the worker that is asked what needs TensorFlow. ``begin`` makes it. Safe to use from threads."""

    def __init__(self, begin: Callable[[], Line], rest: float = REST):
        self._begin, self._rest = begin, rest
        self._lock = Lock()  # of all that follows
        self._line: Line | None = None
        self._users = 0
        self._is_closed = False
        self._timer: Timer | None = None

    @property
    def line(self) -> Line | None:
        """The line there is now; None while there is no worker."""
        return self._line

    @contextmanager
    def awake(self) -> Iterator[Line]:
        """The line, which stays as long as it is used. Raises EngineDiedError where the engine has been closed."""
        with self._lock:
            if self._is_closed:
                raise EngineDiedError("the engine has been closed")
            self._users += 1
            self._stop_timer()
            self._line = line = self._line or self._begin()
        try:
            yield line
        finally:
            with self._lock:
                self._users -= 1
                if not self._users and not self._is_closed:
                    self._timer = Timer(self._rest, self._sleep)
                    self._timer.daemon = True
                    self._timer.start()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._stop_timer()
            line, self._line = self._line, None
        if line is not None:
            line.close()

    def _sleep(self) -> None:
        with self._lock:
            if self._users or self._line is None:
                return
            line, self._line = self._line, None
        line.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
