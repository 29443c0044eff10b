"""``Classrooms``: all classrooms of a server, by their codes; ``AnyClassrooms``: the same from elsewhere."""

import re
import secrets
import time
import unicodedata
from abc import ABC, abstractmethod
from collections import OrderedDict, deque
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
# A million codes can be guessed. After so many wrong ones within a minute no new seat is given for the
# rest of it: a guesser finds one of MOST_CLASSROOMS in 80 minutes, and a single one in six days, on average.
MOST_WRONG, MINUTE = 60, 60.0


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

    def join(self, code: str, seat: str = "", key: str = "") -> str:
        """``Classroom.join``; the others likewise."""
        return self._call(Classroom.join, code, seat, key)

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

    def forget_checks(self, code: str, key: str) -> None:
        """Close the questions of plans and forget the answers. Raises NotTheTeacherError for another key."""
        self._call(Classroom.forget_checks, code, key)

    def results(self, code: str, key: str) -> tuple[Results, ...]:
        """The number of seats for each answer to each quiz. Raises NotTheTeacherError for another key."""
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
        self._wrong: deque[float] = deque(maxlen=MOST_WRONG)  # times of the last codes that no classroom has
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

    def join(self, code: str, seat: str = "", key: str = "") -> str:
        with self._lock:
            while self._wrong and self._clock() - self._wrong[0] > MINUTE:
                self._wrong.popleft()
            _, room = self._rooms.get(code, (0.0, None))
            if len(self._wrong) >= MOST_WRONG and not (room and seat in room._seats):
                raise FullError("too many wrong codes were tried, a minute later they are read again")
        return super().join(code, seat, key)

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
            self._wrong.append(now)
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


LENGTH = 6  # digits of a code
_GROUP = 3


def new_code() -> str:
    """A random code, short enough to be read out and typed on a phone.

    >>> code = new_code()
    >>> len(code), code.isdecimal()
    (6, True)
    """
    return f"{secrets.randbelow(10**LENGTH):0{LENGTH}}"


def tidy(typed: str) -> str:
    """The code in a typed text, without spaces and hyphens; empty if it cannot be one.

    >>> tidy(" 012-345 "), tidy("０１２３４５"), tidy("abc")
    ('012345', '012345', '')
    """
    found = re.sub(r"[\s-]", "", unicodedata.normalize("NFKC", typed)) if len(typed) <= 4 * LENGTH else ""
    return found if len(found) == LENGTH and found.isascii() and found.isdecimal() else ""


def in_groups(code: str) -> str:
    """The code as it is shown and read out.

    >>> in_groups("012345")
    '012-345'
    """
    return "-".join(code[start : start + _GROUP] for start in range(0, len(code), _GROUP))
