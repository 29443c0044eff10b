"""The class together: a teacher shows and asks, phones answer.

Python's own library and NumPy alone; no page, no network.

The store lives in memory where the page processes meet: in the page process if it is the only one, else in
the engine's first worker.
"""

from classroom.classroom import (
    AFTER,
    BEFORE,
    CALLS,
    AnyClassrooms,
    ClassroomError,
    Classrooms,
    ClosedError,
    FullError,
    NotAllowedError,
    NotTheTeacherError,
    Poll,
    Quiz,
    Results,
    Shown,
    State,
    UnknownCodeError,
)

__all__ = [
    "AFTER",
    "BEFORE",
    "CALLS",
    "AnyClassrooms",
    "ClassroomError",
    "Classrooms",
    "ClosedError",
    "FullError",
    "NotAllowedError",
    "NotTheTeacherError",
    "Poll",
    "Quiz",
    "Results",
    "Shown",
    "State",
    "UnknownCodeError",
]
