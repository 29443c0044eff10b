"""``Classrooms``: all classrooms of a server, by their codes; ``AnyClassrooms``: the same from elsewhere."""

import re
import secrets
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Concatenate, ParamSpec, TypeVar

from classroom.classroom import (
    Classroom,
    FullError,
    Poll,
    Quiz,
    QuizAnswer,
    Results,
    Settings,
    State,
    UnknownCodeError,
)

P = ParamSpec("P")
R = TypeVar("R")
MOST_CLASSROOMS = 200
DAY = 24 * 3600.0  # seconds
QUIET = 3600.0  # seconds of silence after which a classroom makes room for a new one


class AnyClassrooms(ABC):
    """The store as a page sees it, in this process or another one: each call names a method of ``Classroom``.

    Every call raises UnknownCodeError for a code that no classroom has. Calls with a ``key`` are the
    teacher's and raise NotTheTeacherError for another key.
    """

    @abstractmethod
    def open(self) -> tuple[str, str]:
        """Open a classroom: (its code, the teacher's key). Raises FullError for too many."""

    @abstractmethod
    def end(self, code: str, key: str) -> None:
        """Close the classroom and forget all of it."""

    @abstractmethod
    def _call(
        self,
        method: Callable[Concatenate[Classroom, float, P], R],
        code: str,
        *arguments: P.args,
        **named: P.kwargs,
    ) -> R: ...

    def join(self, code: str, seat: str = "") -> str:
        """``Classroom.join``; the others likewise."""
        return self._call(Classroom.join, code, seat)

    def state_of(self, code: str, seat: str = "") -> State:
        """The state for a seat, which then counts as present for PRESENT seconds."""
        return self._call(Classroom.state_of, code, seat)

    def is_teacher(self, code: str, key: str) -> bool:
        return self._call(Classroom.is_teacher, code, key)

    def show(self, code: str, key: str, page: str, settings: Settings) -> None:
        """Show the class a page. Raises NotTheTeacherError for another key."""
        self._call(Classroom.show, code, key, page, settings)

    def ask(self, code: str, key: str, poll: Poll) -> None:
        """Open a poll. Raises NotTheTeacherError, and NotAllowedError for too many or too long options."""
        self._call(Classroom.ask, code, key, poll)

    def reveal(self, code: str, key: str) -> None:
        """Show the answers to every seat. Raises NotTheTeacherError for another key."""
        self._call(Classroom.reveal, code, key)

    def stop_asking(self, code: str, key: str) -> None:
        """Take the poll away. Raises NotTheTeacherError for another key."""
        self._call(Classroom.stop_asking, code, key)

    def answer(self, code: str, seat: str, number: int, chosen: Sequence[int]) -> None:
        """Take the options of a seat. Raises ClosedError for a poll that is over."""
        self._call(Classroom.answer, code, seat, number, chosen)

    def check(self, code: str, key: str, quiz: Quiz) -> None:
        """Open or close the questions of a plan. Raises NotTheTeacherError for another key."""
        self._call(Classroom.check, code, key, quiz)

    def answer_check(self, code: str, seat: str, answer: QuizAnswer) -> None:
        """Take the answer of a seat to one question. Raises ClosedError for a quiz that is over."""
        self._call(Classroom.answer_check, code, seat, answer)

    def results(self, code: str, key: str) -> Results:
        """The number of seats for each answer. Raises NotTheTeacherError for another key."""
        return self._call(Classroom.results, code, key)


CALLS = frozenset(name for name in vars(AnyClassrooms) if not name.startswith("_"))


class Classrooms(AnyClassrooms):
    """The store in this process.

    Bounded in classrooms, seats and bytes; forgets classrooms after a day. Safe to call from threads.

    >>> rooms = Classrooms()
    >>> code, key = rooms.open()
    >>> seat = rooms.join(code)
    >>> rooms.ask(code, key, Poll("where", ("가", "나"), 1, ()))
    >>> rooms.answer(code, seat, 1, [1])
    >>> rooms.state_of(code, seat).answered, rooms.state_of(code, seat).counts  # no counts before the reveal
    (1, ())
    >>> rooms.reveal(code, key)
    >>> rooms.state_of(code, seat).counts
    (0, 1)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock, self._lock = clock, Lock()
        self._rooms: OrderedDict[str, tuple[float, Classroom]] = (
            OrderedDict()
        )  # time of opening; oldest first

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

    def end(self, code: str, key: str) -> None:
        with self._lock:
            self._room(code)._check_teacher(key)
            del self._rooms[code]

    def __len__(self) -> int:
        return len(self._rooms)

    def _call(
        self,
        method: Callable[Concatenate[Classroom, float, P], R],
        code: str,
        *arguments: P.args,
        **named: P.kwargs,
    ) -> R:
        with self._lock:
            room = self._room(code)
            return method(room, room.heard, *arguments, **named)

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
        """Close the classroom with the longest silence, if that was an hour."""
        code, (_, room) = min(self._rooms.items(), key=lambda each: each[1][1].heard)
        if now - room.heard < QUIET:
            raise FullError(f"{MOST_CLASSROOMS} classrooms are open")
        del self._rooms[code]


# 31 ** 9 = 2.6e13 codes. A thousand guesses a second are 8.6e7 a day; even if all MOST_CLASSROOMS are open,
# the probability that one of these guesses is a code is below 1 in 1,000.
ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # no 0 and o, no 1, i and l
LENGTH = 9
_GROUP = 3


def new_code() -> str:
    """A random code, short enough to be read out.

    >>> code = new_code()
    >>> len(code), set(code) <= set(ALPHABET)
    (9, True)
    """
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def tidy(typed: str) -> str:
    """The code in a typed text, without spaces and hyphens; empty if it cannot be one.

    >>> tidy(" ABC-def 234 "), tidy("abc")
    ('abcdef234', '')
    """
    found = re.sub(r"[\s-]", "", typed.lower()) if len(typed) <= 4 * LENGTH else ""
    return found if len(found) == LENGTH and set(found) <= set(ALPHABET) else ""


def in_groups(code: str) -> str:
    """The code as it is shown and read out.

    >>> in_groups("abcdef234")
    'abc-def-234'
    """
    return "-".join(code[start : start + _GROUP] for start in range(0, len(code), _GROUP))
