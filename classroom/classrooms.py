"""``Classrooms``: all classrooms of a server, in memory, for at most a day."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Protocol

from classroom.classroom import Classroom
from classroom.codes import new_code
from classroom.errors import FullError, UnknownCodeError
from classroom.records import Results, Settings, State

MOST_CLASSROOMS = 200
DAY = 24 * 3600.0
QUIET = 3600.0  # seconds of silence after which a classroom makes room for a new one


class AnyClassrooms(Protocol):
    """The store as a page sees it, wherever it lives. Arguments and answers are plain, so each call can travel.

    Every call raises UnknownCodeError for a code that no classroom has. Calls with a ``key`` are the teacher's and raise
    NotTheTeacherError for another key.
    """

    def open(self) -> tuple[str, str]:
        """Open a classroom: (its code, the teacher's key). Raises FullError where there are too many."""

    def join(self, code: str, seat: str = "") -> str:
        """A seat: the one that somebody had before, or a new one."""

    def state_of(self, code: str, seat: str = "") -> State:
        """What this seat may know; asking counts as being present."""

    def is_teacher(self, code: str, key: str) -> bool:
        """Whether this is the teacher's key."""

    def show(self, code: str, key: str, page: str, settings: Settings) -> None:
        """Show the class a page with these settings."""

    def ask(self, code: str, key: str, kind: str, options: Sequence[str], most: int, about: Settings) -> None:
        """Ask the class: choose at most ``most`` of ``options``."""

    def reveal(self, code: str, key: str) -> None:
        """Tell everybody what the class answered."""

    def stop_asking(self, code: str, key: str) -> None:
        """Take the question away."""

    def answer(self, code: str, seat: str, number: int, chosen: Sequence[int]) -> None:
        """What this seat chooses in the poll of this number."""

    def check(
        self, code: str, key: str, plan: str, about: Settings, sizes: Sequence[int], phase: str
    ) -> None:
        """Ask the questions of a plan, before or after the lesson."""

    def answer_check(self, code: str, seat: str, number: int, phase: str, question: int, option: int) -> None:
        """What this seat answers to one of these questions."""

    def results(self, code: str, key: str) -> Results:
        """How the class answered them."""

    def end(self, code: str, key: str) -> None:
        """Close the classroom and forget everything."""


CALLS = frozenset(name for name in vars(AnyClassrooms) if not name.startswith("_"))


class Classrooms:
    """The store in this process. Bounded in classrooms, seats and bytes; what is older than a day is forgotten.

    >>> rooms = Classrooms()
    >>> code, key = rooms.open()
    >>> seat = rooms.join(code)
    >>> rooms.ask(code, key, "where", ["가", "나"], 1, ())
    >>> rooms.answer(code, seat, 1, [1])
    >>> rooms.state_of(code, seat).answered, rooms.state_of(code, seat).counts  # nobody is told before the reveal
    (1, ())
    >>> rooms.reveal(code, key)
    >>> rooms.state_of(code, seat).counts
    (0, 1)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock, self._lock = clock, Lock()
        self._rooms: OrderedDict[str, tuple[float, Classroom]] = OrderedDict()  # opened when; oldest first

    def open(self) -> tuple[str, str]:
        with self._lock:
            now = self._clock()
            self._forget_old(now)
            if len(self._rooms) >= MOST_CLASSROOMS:
                self._make_room(now)
            code = new_code()
            while code in self._rooms:
                code = new_code()
            room = Classroom(now)
            self._rooms[code] = now, room
            return code, room.key

    def join(self, code: str, seat: str = "") -> str:
        with self._lock:
            return self._room(code).sit(self._clock(), seat)

    def state_of(self, code: str, seat: str = "") -> State:
        with self._lock:
            return self._room(code).state(self._clock(), seat)

    def is_teacher(self, code: str, key: str) -> bool:
        with self._lock:
            return secrets.compare_digest(key.encode("utf-8", "replace"), self._room(code).key.encode())

    def show(self, code: str, key: str, page: str, settings: Settings) -> None:
        with self._lock:
            self._room(code).teacher(key).show(page, settings)

    def ask(self, code: str, key: str, kind: str, options: Sequence[str], most: int, about: Settings) -> None:
        with self._lock:
            self._room(code).teacher(key).ask(kind, options, most, about)

    def reveal(self, code: str, key: str) -> None:
        with self._lock:
            self._room(code).teacher(key).reveal()

    def stop_asking(self, code: str, key: str) -> None:
        with self._lock:
            self._room(code).teacher(key).stop_asking()

    def answer(self, code: str, seat: str, number: int, chosen: Sequence[int]) -> None:
        with self._lock:
            self._room(code).answer(self._clock(), seat, number, chosen)

    def check(
        self, code: str, key: str, plan: str, about: Settings, sizes: Sequence[int], phase: str
    ) -> None:
        with self._lock:
            self._room(code).teacher(key).check(plan, about, sizes, phase)

    def answer_check(self, code: str, seat: str, number: int, phase: str, question: int, option: int) -> None:
        with self._lock:
            self._room(code).answer_check(self._clock(), seat, number, phase, question, option)

    def results(self, code: str, key: str) -> Results:
        with self._lock:
            return self._room(code).teacher(key).results()

    def end(self, code: str, key: str) -> None:
        with self._lock:
            self._room(code).teacher(key)
            del self._rooms[code]

    def __len__(self) -> int:
        return len(self._rooms)

    def _room(self, code: str) -> Classroom:
        now = self._clock()
        self._forget_old(now)
        try:
            _, room = self._rooms[code]
        except KeyError:
            raise UnknownCodeError("no classroom has this code") from None
        room.heard = now
        return room

    def _forget_old(self, now: float) -> None:
        while self._rooms and now - next(iter(self._rooms.values()))[0] > DAY:
            self._rooms.popitem(last=False)

    def _make_room(self, now: float) -> None:
        """Close the classroom that was silent longest, if it was silent for an hour."""
        code, (_, room) = min(self._rooms.items(), key=lambda each: each[1][1].heard)
        if now - room.heard < QUIET:
            raise FullError(f"{MOST_CLASSROOMS} classrooms are open")
        del self._rooms[code]
