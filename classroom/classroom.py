"""``Classroom``: a teacher, seats of students, polls and quizzes.

A classroom is opened by a teacher and joined by a short code. Each phone gets a seat, without a name. The
teacher's browser holds a key, without which nothing is shown or revealed, and no poll opens. All of it lives
in memory for at most a day.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

MOST_SEATS = 1_000
PRESENT = 20.0  # seconds for which a seat counts as present after its last call
_COUNTED = 0.5  # seconds between two counts of those present
_FREE = 300.0  # seconds of silence after which a seat without answers may be given to another phone
MOST_OPTIONS, MOST_QUESTIONS, MOST_CHOSEN = 200, 16, 10
MOST_QUIZZES = 16  # of which answers are kept; beyond them the oldest is forgotten
LONGEST_NAME, LONGEST_OPTION, LONGEST_SETTINGS = 40, 60, 8_000  # characters

Settings = tuple[tuple[str, str], ...]  # (name, value) of a view's settings, as in its address
BEFORE, AFTER = "before", "after"  # phases of a quiz, around the lesson
PHASES = (BEFORE, AFTER)


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

    kind: str
    options: tuple[str, ...]
    most: int  # number of options that one seat may choose
    about: Settings
    number: int = 0  # from 1, given by the classroom; an answer to an earlier poll is not taken
    revealed: bool = False


@dataclass(frozen=True)
class Quiz:
    """Questions with right answers from the network in use; they follow from ``plan`` and ``about``."""

    plan: str
    about: Settings
    sizes: tuple[int, ...]  # number of options of each question
    phase: str  # one of PHASES; empty while it is not open
    number: int = 0  # from 1, given by the classroom


class QuizAnswer(NamedTuple):
    """The option that a seat chooses for one question of a quiz; both count from 0."""

    number: int  # of the quiz
    phase: str
    question: int
    option: int


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
    """For the teacher, of one quiz: the number of seats for each first answer, by phase, question, option."""

    quiz: Quiz
    before: tuple[tuple[int, ...], ...]
    after: tuple[tuple[int, ...], ...]
    seats: tuple[int, int]  # that answered at least one question, before and after


@dataclass
class _Seat:
    heard: float
    chosen: tuple[int, ...] = ()  # of the present poll
    # (number of the quiz, phase) -> question -> its first answer
    checked: dict[tuple[int, str], dict[int, int]] = field(default_factory=dict)


class Classroom:
    """One classroom.

    Time is an argument in seconds that only grow, so that tests need not wait. Not safe to use from threads.
    """

    def __init__(self, now: float):
        self.key = secrets.token_urlsafe(24)
        self.opened = self.heard = now  # ``heard``: time of the last call
        self._version = 0
        self._seats: dict[str, _Seat] = {}
        self._teachers: set[str] = set()  # the teacher's seats
        self._shown: Shown | None = None
        self._poll: Poll | None = None
        self._quiz: Quiz | None = None  # the last one that was opened
        self._quizzes: list[Quiz] = []  # all whose answers are kept, the oldest first
        self._counts: list[int] = []
        self._answered = 0
        self._numbers = 0  # of polls and quizzes so far
        self._present = (-_COUNTED, 0)

    def join(self, now: float, seat: str = "", key: str = "") -> str:
        """The seat ``seat`` again, or a new one. With the teacher's ``key`` it is the teacher's: its answers
        count only while there is no other seat. Raises FullError if none is left."""
        if seat in self._seats:
            self._seats[seat].heard = now
        else:
            if len(self._seats) >= MOST_SEATS:
                self._free_a_seat(now)
            seat = secrets.token_urlsafe(12)
            self._seats[seat] = _Seat(now)
            self._present = (-_COUNTED, 0)
        if self.is_teacher(now, key):
            self._teachers.add(seat)
        return seat

    def state_of(self, now: float, seat: str = "") -> State:
        """The state for ``seat``, which then counts as present; without a seat, the common part."""
        sitting = self._seats.get(seat)
        if sitting is not None:
            sitting.heard = now
        revealed = self._poll is not None and self._poll.revealed
        apart = [self._seats[each].chosen for each in self._apart()]
        asked = (self._quiz.number, self._quiz.phase) if self._quiz else (0, "")
        return State(
            self._version,
            self._count_present(now),
            self._answered - sum(map(bool, apart)),
            self._shown,
            self._poll,
            self._quiz,
            tuple(self._counted(apart)) if revealed else (),
            sitting.chosen if sitting else (),
            tuple(sorted(sitting.checked.get(asked, ()))) if sitting else (),
        )

    def is_teacher(self, now: float, key: str) -> bool:
        """Whether this is the teacher's key; compared in constant time."""
        return secrets.compare_digest(key.encode("utf-8", "replace"), self.key.encode())

    def show(self, now: float, key: str, page: str, settings: Settings) -> None:
        """Show the class a page with these settings. Raises NotTheTeacherError, and NotAllowedError for more
        than LONGEST_SETTINGS characters."""
        self._check_teacher(key)
        shown = Shown(_named(page), _bounded(settings))
        if shown != self._shown:
            self._shown = shown
            self._version += 1

    def ask(self, now: float, key: str, poll: Poll) -> None:
        """Open a poll, and close the one before. Raises NotAllowedError for too many or too long options."""
        self._check_teacher(key)
        options, most = tuple(poll.options), poll.most
        if not 2 <= len(options) <= MOST_OPTIONS or not 1 <= most <= min(MOST_CHOSEN, len(options)):
            raise NotAllowedError(f"a poll should have 2 to {MOST_OPTIONS} options")
        if any(len(option) > LONGEST_OPTION for option in options):
            raise NotAllowedError(f"an option may have {LONGEST_OPTION} characters")
        self._numbers += 1
        self._put(Poll(_named(poll.kind), options, most, _bounded(poll.about), self._numbers))
        self._counts, self._answered = [0] * len(options), 0
        for sitting in self._seats.values():
            sitting.chosen = ()

    def reveal(self, now: float, key: str) -> None:
        """Show the class's answers to every seat. No answer is taken afterwards. Raises
        NotTheTeacherError for another key."""
        self._check_teacher(key)
        if self._poll is not None:
            self._put(replace(self._poll, revealed=True))

    def stop_asking(self, now: float, key: str) -> None:
        """Take the poll away. Raises NotTheTeacherError for another key."""
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

    def check(self, now: float, key: str, asked: Quiz) -> None:
        """Open the questions of a plan before or after the lesson, or close them with an empty ``phase``.

        Another plan, or another sentence, is another quiz. Answers to the ones before are kept until
        ``forget_checks``, and a quiz that is opened again goes on where it was. Raises NotTheTeacherError for
        another key, NotAllowedError for another phase and for too many questions or answers.
        """
        self._check_teacher(key)
        sizes, phase = tuple(asked.sizes), asked.phase
        if phase not in ("", *PHASES):
            raise NotAllowedError("there is only before and after")
        if not 1 <= len(sizes) <= MOST_QUESTIONS or not all(2 <= size <= MOST_CHOSEN for size in sizes):
            raise NotAllowedError(f"a quiz should have 1 to {MOST_QUESTIONS} questions")
        quiz = Quiz(_named(asked.plan), _bounded(asked.about), sizes, phase)
        same = (each for each in self._quizzes if replace(each, number=0, phase=phase) == quiz)
        if found := next(same, None):
            self._quiz = replace(found, phase=phase)
        else:
            self._numbers += 1
            self._quiz = replace(quiz, number=self._numbers)
            self._quizzes.append(self._quiz)
            self._forget_answers(self._quizzes[:-MOST_QUIZZES])
        self._version += 1

    def forget_checks(self, now: float, key: str) -> None:
        """Close the questions, and forget all answers to them. Raises NotTheTeacherError for another key."""
        self._check_teacher(key)
        self._forget_answers(self._quizzes)
        self._quiz = None
        self._version += 1

    def _forget_answers(self, quizzes: Sequence[Quiz]) -> None:
        numbers = {quiz.number for quiz in quizzes}
        self._quizzes = [quiz for quiz in self._quizzes if quiz.number not in numbers]
        for sitting in self._seats.values():
            sitting.checked = {
                asked: answers for asked, answers in sitting.checked.items() if asked[0] not in numbers
            }

    def answer_check(self, now: float, seat: str, answer: QuizAnswer) -> None:
        """Take the answer of ``seat`` to one question of the quiz.

        The first one counts; later ones change nothing. Raises ClosedError if those questions are not open,
        NotAllowedError for an answer that they do not offer.
        """
        sitting, quiz, (number, phase, question, option) = self._sitting(now, seat), self._quiz, answer
        if quiz is None or quiz.number != number or not phase or quiz.phase != phase:
            raise ClosedError("this is not asked any more")
        if not 0 <= question < len(quiz.sizes) or not 0 <= option < quiz.sizes[question]:
            raise NotAllowedError("this is no answer to the open question")
        sitting.checked.setdefault((number, phase), {}).setdefault(question, option)

    def results(self, now: float, key: str) -> tuple[Results, ...]:
        """The number of seats for each answer to each quiz, the last one first; it does not tell which seat
        gave which."""
        self._check_teacher(key)
        return tuple(self._results_of(quiz) for quiz in reversed(self._quizzes))

    def _results_of(self, quiz: Quiz) -> Results:
        counts = {phase: [[0] * size for size in quiz.sizes] for phase in PHASES}
        seats = dict.fromkeys(PHASES, 0)
        for seat in self._seats.keys() - self._apart():
            sitting = self._seats[seat]
            for phase in PHASES:
                answers = sitting.checked.get((quiz.number, phase), {})
                seats[phase] += bool(answers)
                for question, option in answers.items():
                    counts[phase][question][option] += 1
        before, after = (tuple(map(tuple, counts[phase])) for phase in PHASES)
        return Results(quiz, before, after, (seats[BEFORE], seats[AFTER]))

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

    def _apart(self) -> set[str]:
        """The seats whose answers do not count: the teacher's, unless there is no other seat."""
        return self._teachers if len(self._seats) > len(self._teachers) else set()

    def _counted(self, apart: Sequence[Sequence[int]]) -> list[int]:
        """The seats for each option of the poll, without the options of those ``apart``."""
        return [count - sum(place in each for each in apart) for place, count in enumerate(self._counts)]

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
        _, seat = min(free)
        del self._seats[seat]
        self._teachers.discard(seat)


def _named(name: str) -> str:
    if len(name) > LONGEST_NAME:
        raise NotAllowedError(f"a name may have {LONGEST_NAME} characters")
    return name


def _bounded(settings: Settings) -> Settings:
    if sum(len(name) + len(value) for name, value in settings) > LONGEST_SETTINGS:
        raise NotAllowedError(f"settings may have {LONGEST_SETTINGS} characters")
    return tuple((name, value) for name, value in settings)
