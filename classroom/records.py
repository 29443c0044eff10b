"""What a classroom tells: plain frozen records, which travel between processes as they are."""

from dataclasses import dataclass

Settings = tuple[tuple[str, str], ...]  # (name, value) of a view's settings, as they stand in its address
BEFORE, AFTER = "before", "after"  # phases of a quiz, around the lesson
PHASES = (BEFORE, AFTER)


@dataclass(frozen=True)
class Shown:
    """What the teacher shows: a page, and its settings as far as they differ from the defaults."""

    page: str
    settings: Settings


@dataclass(frozen=True)
class Poll:
    """One question to the class about what the teacher showed when it was asked (``about``)."""

    number: int  # from 1; an answer to an earlier poll is not taken
    kind: str
    options: tuple[str, ...]  # what can be touched
    most: int  # how many of them may be chosen
    about: Settings
    revealed: bool = False


@dataclass(frozen=True)
class Quiz:
    """Questions whose right answers are computed with the network in use. What is asked follows from ``plan`` and ``about``.
    ``sizes`` says how many options each has."""

    number: int
    plan: str
    about: Settings
    sizes: tuple[int, ...]
    phase: str  # one of PHASES; empty while it is not asked


@dataclass(frozen=True)
class State:
    """What everybody in a classroom may know. ``version`` grows with every change of ``shown``, ``poll`` and ``quiz``.

    ``counts`` says how many seats chose each option of the poll; it is empty until the teacher reveals it. ``mine`` are the options that
    this seat chose. ``checked`` says which questions of the quiz's phase this seat has answered.
    """

    version: int
    present: int
    answered: int
    shown: Shown | None
    poll: Poll | None
    quiz: Quiz | None
    counts: tuple[int, ...] = ()
    mine: tuple[int, ...] = ()
    checked: tuple[int, ...] = ()


@dataclass(frozen=True)
class Results:
    """For the teacher: how many seats gave each option as their first answer, by phase, question and option."""

    quiz: Quiz | None
    before: tuple[tuple[int, ...], ...]
    after: tuple[tuple[int, ...], ...]
    seats: tuple[int, int]  # how many answered at least one question, before and after
