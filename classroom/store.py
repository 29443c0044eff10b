"""``Classrooms``: a server's classrooms by code; ``AnyClassrooms``: their interface."""

import re
import secrets
import time
import unicodedata
from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable
from functools import wraps
from inspect import signature
from threading import Lock
from typing import Any, Concatenate, ParamSpec, TypeVar

from classroom.classroom import Classroom, FullError, UnknownCodeError

P = ParamSpec("P")
R = TypeVar("R")
MOST_CLASSROOMS = 200
DAY = 24 * 3600.0  # seconds
QUIET = 3600.0  # seconds of silence after which a classroom makes room for a new one
# A million codes can be guessed. After so many wrong ones within a minute no new seat is given for the
# rest of it: a guesser finds one of MOST_CLASSROOMS in 80 minutes, and a single one in six days, on average.
MOST_WRONG, MINUTE = 60, 60.0


def _of_classroom(
    method: Callable[Concatenate[Classroom, float, P], R],
) -> "Callable[Concatenate[AnyClassrooms, str, P], R]":
    """The call of ``AnyClassrooms`` that makes this call of the classroom with a code."""
    form = signature(method)

    @wraps(method)
    def call(rooms: "AnyClassrooms", code: str, /, *arguments: P.args, **named: P.kwargs) -> R:
        asked = form.bind(None, 0.0, *arguments, **named)
        asked.apply_defaults()  # those before a named one travel, too
        found: R = rooms.call(method.__name__, code, *asked.args[2:])
        return found

    return call


class AnyClassrooms(ABC):
    """The store as a page sees it, in this process or another one: each call is one of ``Classroom``, with
    its code instead of the time.

    Every call raises UnknownCodeError for a code that no classroom has. Calls with a ``key`` are the
    teacher's and raise NotTheTeacherError for another key.
    """

    @abstractmethod
    def call(self, *arguments: Any) -> Any:
        """One call, as it travels between processes: its name, which is one of CALLS, then its arguments.

        Raises ValueError for anything else.
        """

    def open(self) -> tuple[str, str]:
        """Open a classroom: (its code, the teacher's key). Raises FullError for too many."""
        found: tuple[str, str] = self.call("open")
        return found

    def end(self, code: str, key: str) -> None:
        """Close the classroom and forget all of it."""
        self.call("end", code, key)

    join = _of_classroom(Classroom.join)
    state_of = _of_classroom(Classroom.state_of)
    is_teacher = _of_classroom(Classroom.is_teacher)
    show = _of_classroom(Classroom.show)
    ask = _of_classroom(Classroom.ask)
    reveal = _of_classroom(Classroom.reveal)
    stop_asking = _of_classroom(Classroom.stop_asking)
    answer = _of_classroom(Classroom.answer)
    check = _of_classroom(Classroom.check)
    answer_check = _of_classroom(Classroom.answer_check)
    forget_checks = _of_classroom(Classroom.forget_checks)
    results = _of_classroom(Classroom.results)


CALLS = frozenset(name for name in vars(AnyClassrooms) if not name.startswith("_")) - {"call"}


class Classrooms(AnyClassrooms):
    """The store in this process.

    Bounded in classrooms, seats and bytes; forgets classrooms after a day. Safe to call from threads.

    >>> from classroom.classroom import Poll
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
        self._rooms: OrderedDict[str, Classroom] = OrderedDict()  # by their codes, the oldest first

    def call(self, *arguments: Any) -> Any:
        with self._lock:
            match arguments:
                case ["open"]:
                    return self._opened()
                case [str(name), code, *rest] if name in CALLS:
                    if name == "join":
                        self._limit_guesses(code, *rest)
                    room = self._room(code)
                    if name != "end":
                        return getattr(room, name)(room.heard, *rest)
                    room._check_teacher(*rest)
                    del self._rooms[code]
                    return None
        raise ValueError("this is no call of a classroom")

    def __len__(self) -> int:
        return len(self._rooms)

    def _opened(self) -> tuple[str, str]:
        now = self._clock()
        self._forget_old(now)
        if len(self._rooms) >= MOST_CLASSROOMS:
            self._make_room(now)
        code = new_code()
        while code in self._rooms:
            code = new_code()
        self._rooms[code] = room = Classroom(now)
        return code, room.key

    def _limit_guesses(self, code: str, seat: str = "", _: str = "") -> None:
        while self._wrong and self._clock() - self._wrong[0] > MINUTE:
            self._wrong.popleft()
        room = self._rooms.get(code)
        if len(self._wrong) >= MOST_WRONG and not (room and seat in room._seats):
            raise FullError("too many wrong codes were tried, a minute later they are read again")

    def _room(self, code: str) -> Classroom:
        now = self._clock()
        self._forget_old(now)
        try:
            room = self._rooms[code]
        except KeyError:
            self._wrong.append(now)
            raise UnknownCodeError("no classroom has this code") from None
        room.heard = now
        return room

    def _forget_old(self, now: float) -> None:
        while self._rooms and now - next(iter(self._rooms.values())).opened > DAY:
            self._rooms.popitem(last=False)

    def _make_room(self, now: float) -> None:
        """Close the classroom with the longest silence, if that was an hour."""
        code, room = min(self._rooms.items(), key=lambda each: each[1].heard)
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
