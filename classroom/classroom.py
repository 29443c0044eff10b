"""``Classroom``: a teacher, seats of students, polls; and the store of all classrooms.

A classroom is opened by a teacher and joined by a short code. Each phone gets a seat, without a name. The
teacher's browser holds a key, without which nothing is shown or revealed, and no poll opens. All of it lives
in memory for at most a day.
"""

import re
import secrets
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Concatenate, ParamSpec, TypeVar

MOST_SEATS = 1_000
PRESENT = 20.0  # seconds for which a seat counts as present after its last call
_COUNTED = 0.5  # seconds between two counts of those present
_FREE = 300.0  # seconds of silence after which a seat without answers may be given to another phone
MOST_OPTIONS, MOST_QUESTIONS, MOST_CHOSEN = 200, 16, 10
LONGEST_NAME, LONGEST_OPTION, LONGEST_SETTINGS = 40, 60, 8_000  # characters
MOST_CLASSROOMS = 200
DAY = 24 * 3600.0  # seconds
QUIET = 3600.0  # seconds of silence after which a classroom makes room for a new one

Settings = tuple[tuple[str, str], ...]  # (name, value) of a view's settings, as in its address
BEFORE, AFTER = "before", "after"  # phases of a quiz, around the lesson
PHASES = (BEFORE, AFTER)

P = ParamSpec("P")
R = TypeVar("R")


class ClassroomError(Exception):
    """The reason why a classroom refuses a call."""


class UnknownCodeError(ClassroomError):
    """No classroom has this code: it was never opened, or it is over."""


class NotTheTeacherError(ClassroomError):
    """The key is not the one of this classroom's teacher, or the seat is not one of its seats."""


class FullError(ClassroomError):
    """The number of seats, or of classrooms, has reached its limit."""


class ClosedError(ClassroomError):
    """The answer comes too late: it was revealed, or another question is open."""


class NotAllowedError(ClassroomError):
    """The argument is larger than allowed, or is no answer to the open question."""


@dataclass(frozen=True)
class Shown:
    """The page that the teacher shows, and its settings as far as they differ from the defaults."""

    page: str
    settings: Settings


@dataclass(frozen=True)
class Poll:
    """One question to the class about the view that the teacher showed at that time (``about``)."""

    number: int  # from 1; an answer to an earlier poll is not taken
    kind: str
    options: tuple[str, ...]
    most: int  # number of options that one seat may choose
    about: Settings
    revealed: bool = False


@dataclass(frozen=True)
class Quiz:
    """Questions with right answers from the network in use; they follow from ``plan`` and ``about``."""

    number: int
    plan: str
    about: Settings
    sizes: tuple[int, ...]  # number of options of each question
    phase: str  # one of PHASES; empty while it is not open


@dataclass(frozen=True)
class State:
    """The state that every seat may read.

    ``version`` grows with every change of ``shown``, ``poll`` and ``quiz``.
    """

    version: int
    present: int
    answered: int
    shown: Shown | None
    poll: Poll | None
    quiz: Quiz | None
    counts: tuple[int, ...] = ()  # seats for each option of the poll; empty before the teacher reveals it
    mine: tuple[int, ...] = ()  # options that this seat chose
    checked: tuple[int, ...] = ()  # questions of the quiz's phase that this seat has answered


@dataclass(frozen=True)
class Results:
    """For the teacher: the number of seats for each first answer, by phase, question and option."""

    quiz: Quiz | None
    before: tuple[tuple[int, ...], ...]
    after: tuple[tuple[int, ...], ...]
    seats: tuple[int, int]  # that answered at least one question, before and after


@dataclass
class _Seat:
    heard: float
    chosen: tuple[int, ...] = ()  # of the present poll
    checked: dict[str, dict[int, int]] = field(default_factory=dict)  # phase -> question -> its first answer


class Classroom:
    """One classroom.

    Time is an argument in seconds that only grow, so that tests need not wait. Not safe to use from threads.
    """

    def __init__(self, now: float):
        self.key = secrets.token_urlsafe(24)
        self.heard = now  # time of the last call
        self._version = 0
        self._seats: dict[str, _Seat] = {}
        self._shown: Shown | None = None
        self._poll: Poll | None = None
        self._quiz: Quiz | None = None
        self._counts: list[int] = []
        self._answered = 0
        self._numbers = 0  # of polls and quizzes so far
        self._present = (-_COUNTED, 0)

    def join(self, now: float, seat: str = "") -> str:
        """The seat ``seat`` again, or a new one. Raises FullError if none is left."""
        if seat in self._seats:
            self._seats[seat].heard = now
            return seat
        if len(self._seats) >= MOST_SEATS:
            self._free_a_seat(now)
        seat = secrets.token_urlsafe(12)
        self._seats[seat] = _Seat(now)
        self._present = (-_COUNTED, 0)
        return seat

    def state_of(self, now: float, seat: str = "") -> State:
        """The state for ``seat``, which then counts as present; without a seat, the common part."""
        sitting = self._seats.get(seat)
        if sitting is not None:
            sitting.heard = now
        revealed = self._poll is not None and self._poll.revealed
        phase = self._quiz.phase if self._quiz else ""
        return State(
            self._version,
            self._count_present(now),
            self._answered,
            self._shown,
            self._poll,
            self._quiz,
            tuple(self._counts) if revealed else (),
            sitting.chosen if sitting else (),
            tuple(sorted(sitting.checked.get(phase, ()))) if sitting else (),
        )

    def is_teacher(self, now: float, key: str) -> bool:
        """Whether this is the teacher's key; compared in constant time."""
        return secrets.compare_digest(key.encode("utf-8", "replace"), self.key.encode())

    def show(self, now: float, key: str, page: str, settings: Settings) -> None:
        """Show the class a page with these settings."""
        self._check_teacher(key)
        shown = Shown(_named(page), _bounded(settings))
        if shown != self._shown:
            self._shown = shown
            self._version += 1

    def ask(
        self, now: float, key: str, kind: str, options: Sequence[str], most: int, about: Settings
    ) -> None:
        """Open a poll, and close the one before. Raises NotAllowedError for too many or too long options."""
        self._check_teacher(key)
        if not 2 <= len(options) <= MOST_OPTIONS or not 1 <= most <= min(MOST_CHOSEN, len(options)):
            raise NotAllowedError(f"a poll should have 2 to {MOST_OPTIONS} options")
        if any(len(option) > LONGEST_OPTION for option in options):
            raise NotAllowedError(f"an option may have {LONGEST_OPTION} characters")
        self._numbers += 1
        self._put(Poll(self._numbers, _named(kind), tuple(options), most, _bounded(about)))
        self._counts, self._answered = [0] * len(options), 0
        for sitting in self._seats.values():
            sitting.chosen = ()

    def reveal(self, now: float, key: str) -> None:
        """Show the class's answers to every seat. No answer is taken afterwards."""
        self._check_teacher(key)
        if self._poll is not None:
            self._put(replace(self._poll, revealed=True))

    def stop_asking(self, now: float, key: str) -> None:
        """Take the poll away."""
        self._check_teacher(key)
        self._put(None)

    def answer(self, now: float, seat: str, number: int, chosen: Sequence[int]) -> None:
        """Take the options that ``seat`` chooses, instead of those that it chose before.

        Raises ClosedError if ``number`` is not the poll that is open, NotAllowedError for a choice that the
        poll does not offer.
        """
        sitting, poll = self._sitting(now, seat), self._poll
        if poll is None or poll.number != number or poll.revealed:
            raise ClosedError("this is not asked any more")
        places = tuple(sorted(set(chosen)))
        if len(places) > poll.most or not all(0 <= place < len(poll.options) for place in places):
            raise NotAllowedError("this is no answer to the open question")
        for place in sitting.chosen:
            self._counts[place] -= 1
        for place in places:
            self._counts[place] += 1
        self._answered += bool(places) - bool(sitting.chosen)
        sitting.chosen = places

    def check(
        self, now: float, key: str, plan: str, about: Settings, sizes: Sequence[int], phase: str
    ) -> None:
        """Open the questions of a plan before or after the lesson, or close them with an empty ``phase``.

        Another plan, or another sentence, is another quiz, and forgets the answers to the one before.
        """
        self._check_teacher(key)
        if phase not in ("", *PHASES):
            raise NotAllowedError("there is only before and after")
        if not 1 <= len(sizes) <= MOST_QUESTIONS or not all(2 <= size <= MOST_CHOSEN for size in sizes):
            raise NotAllowedError(f"a quiz should have 1 to {MOST_QUESTIONS} questions")
        quiz = Quiz(0, _named(plan), _bounded(about), tuple(sizes), phase)
        before = self._quiz
        if before is not None and replace(before, number=0, phase=phase) == quiz:
            quiz = replace(before, phase=phase)
        else:
            self._numbers += 1
            quiz = replace(quiz, number=self._numbers)
            for sitting in self._seats.values():
                sitting.checked = {}
        self._quiz = quiz
        self._version += 1

    def answer_check(
        self, now: float, seat: str, number: int, phase: str, question: int, option: int
    ) -> None:
        """Take the answer of ``seat`` to one question of the quiz.

        The first one counts; later ones change nothing.
        """
        sitting, quiz = self._sitting(now, seat), self._quiz
        if quiz is None or quiz.number != number or not phase or quiz.phase != phase:
            raise ClosedError("this is not asked any more")
        if not 0 <= question < len(quiz.sizes) or not 0 <= option < quiz.sizes[question]:
            raise NotAllowedError("this is no answer to the open question")
        sitting.checked.setdefault(phase, {}).setdefault(question, option)

    def results(self, now: float, key: str) -> Results:
        """The number of seats for each answer; it does not tell which seat gave which."""
        self._check_teacher(key)
        sizes = self._quiz.sizes if self._quiz else ()
        counts = {phase: [[0] * size for size in sizes] for phase in PHASES}
        seats = dict.fromkeys(PHASES, 0)
        for sitting in self._seats.values():
            for phase, answers in sitting.checked.items():
                seats[phase] += 1
                for question, option in answers.items():
                    counts[phase][question][option] += 1
        before, after = (tuple(map(tuple, counts[phase])) for phase in (BEFORE, AFTER))
        return Results(self._quiz, before, after, (seats[BEFORE], seats[AFTER]))

    def _check_teacher(self, key: str) -> None:
        if not self.is_teacher(0.0, key):
            raise NotTheTeacherError("only the teacher may do this")

    def _put(self, poll: Poll | None) -> None:
        if poll != self._poll:
            self._poll = poll
            self._version += 1

    def _sitting(self, now: float, seat: str) -> _Seat:
        try:
            sitting = self._seats[seat]
        except KeyError:
            raise NotTheTeacherError("this is no seat of this classroom") from None
        sitting.heard = now
        return sitting

    def _count_present(self, now: float) -> int:
        at, count = self._present
        if now - at >= _COUNTED:
            count = sum(now - sitting.heard < PRESENT for sitting in self._seats.values())
            self._present = (now, count)
        return count

    def _free_a_seat(self, now: float) -> None:
        """Give up the seat with the longest silence that has answered nothing."""
        free = [
            (sitting.heard, seat)
            for seat, sitting in self._seats.items()
            if now - sitting.heard > _FREE and not sitting.chosen and not sitting.checked
        ]
        if not free:
            raise FullError(f"a classroom has {MOST_SEATS} seats")
        del self._seats[min(free)[1]]


def _named(name: str) -> str:
    if len(name) > LONGEST_NAME:
        raise NotAllowedError(f"a name may have {LONGEST_NAME} characters")
    return name


def _bounded(settings: Settings) -> Settings:
    if sum(len(name) + len(value) for name, value in settings) > LONGEST_SETTINGS:
        raise NotAllowedError(f"settings may have {LONGEST_SETTINGS} characters")
    return tuple((name, value) for name, value in settings)


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

    def ask(self, code: str, key: str, kind: str, options: Sequence[str], most: int, about: Settings) -> None:
        """Open a poll. Raises NotTheTeacherError, and NotAllowedError for too many or too long options."""
        self._call(Classroom.ask, code, key, kind, options, most, about)

    def reveal(self, code: str, key: str) -> None:
        """Show the answers to every seat. Raises NotTheTeacherError for another key."""
        self._call(Classroom.reveal, code, key)

    def stop_asking(self, code: str, key: str) -> None:
        """Take the poll away. Raises NotTheTeacherError for another key."""
        self._call(Classroom.stop_asking, code, key)

    def answer(self, code: str, seat: str, number: int, chosen: Sequence[int]) -> None:
        """Take the options of a seat. Raises ClosedError for a poll that is over."""
        self._call(Classroom.answer, code, seat, number, chosen)

    def check(
        self, code: str, key: str, plan: str, about: Settings, sizes: Sequence[int], phase: str
    ) -> None:
        """Open or close the questions of a plan. Raises NotTheTeacherError for another key."""
        self._call(Classroom.check, code, key, plan, about, sizes, phase)

    def answer_check(self, code: str, seat: str, number: int, phase: str, question: int, option: int) -> None:
        """Take the answer of a seat to one question. Raises ClosedError for a quiz that is over."""
        self._call(Classroom.answer_check, code, seat, number, phase, question, option)

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
    >>> rooms.ask(code, key, "where", ["가", "나"], 1, ())
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
