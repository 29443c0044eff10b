"""Pages take turns: of all sessions of this server one draws at a time.

Python runs one thread at a time. Of sixty pages that are drawn at once none comes to its end before its visitor has typed on, which
ends it: all the work is lost, and nobody sees an answer. One after the other each takes a twentieth of a second. Who has waited
longest comes next; a page that waits for the network lets others go ahead.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from heapq import heappop, heappush
from itertools import count
from threading import Event, Lock, local
from time import monotonic

import streamlit as st

_SINCE = (
    "waits_since"  # when this session last began to wait for a page that has not been drawn to its end yet
)


class Turns:
    """``places`` threads at a time. Safe to use from threads."""

    def __init__(self, places: int = 1):
        self._free = places
        self._waiting: list[tuple[float, int, Event]] = []
        self._numbers = count()
        self._lock = Lock()
        self._mine = local()

    @contextmanager
    def taken(self, since: float) -> Iterator[None]:
        """Wait for a place, and hold it. Of those who wait the one with the smallest ``since`` comes next."""
        self._take(since)
        try:
            yield
        finally:
            self._give()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Give one's place, if one has one, to others meanwhile; afterwards one comes before all who have not begun.

        Hold no lock around it: who waits for that lock with the place would wait for ever.
        """
        if not getattr(self._mine, "held", False):
            yield
            return
        self._give()
        try:
            yield
        finally:
            self._take(-1.0)

    def _take(self, since: float) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                turn = None
            else:
                turn = Event()
                heappush(self._waiting, (since, next(self._numbers), turn))
        if turn is not None:
            turn.wait()
        self._mine.held = True

    def _give(self) -> None:
        self._mine.held = False
        with self._lock:
            if self._waiting:
                heappop(self._waiting)[2].set()
            else:
                self._free += 1


TURNS = Turns()


@contextmanager
def taken() -> Iterator[None]:
    """One run of this session's page. A run that was ended because the visitor did something keeps its place in the queue for the
    next one: who types fast does not wait for ever."""
    since = st.session_state.setdefault(_SINCE, monotonic())
    with TURNS.taken(since):
        yield
    st.session_state.pop(_SINCE, None)
