"""A worker that starts when it is first needed and ends when nobody has asked it for a while."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Timer

from engine.errors import EngineDiedError
from engine.link import Link

REST = 600.0  # seconds without a question, after which the worker ends: TensorFlow holds a gigabyte


class LaboratoryLink:
    """The link to the worker that is asked what needs TensorFlow. ``begin`` makes it. Safe to use from threads."""

    def __init__(self, begin: Callable[[], Link], rest: float = REST):
        self._begin, self._rest = begin, rest
        self._lock = Lock()  # guards all that follows
        self._link: Link | None = None
        self._users = 0
        self._is_closed = False
        self._timer: Timer | None = None

    @property
    def link(self) -> Link | None:
        """The link there is now; None while there is no worker."""
        return self._link

    @contextmanager
    def awake(self) -> Iterator[Link]:
        """The link, which stays as long as it is used. Raises EngineDiedError where the engine has been closed."""
        with self._lock:
            if self._is_closed:
                raise EngineDiedError("the engine has been closed")
            self._users += 1
            self._stop_timer()
            self._link = link = self._link or self._begin()
        try:
            yield link
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
            link, self._link = self._link, None
        if link is not None:
            link.close()

    def _sleep(self) -> None:
        with self._lock:
            if self._users or self._link is None:
                return
            link, self._link = self._link, None
        link.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
