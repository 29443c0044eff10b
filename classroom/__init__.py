"""The class together: what a teacher shows and asks, and what phones answer. Only Python's own library; no page, no network.

A *classroom* is opened by a teacher and found by a short *code*. Whoever has the code gets a *seat*; nobody gives a name. The teacher's
browser holds a *key*, without which nobody shows, asks or reveals anything.

``Classroom`` is one of them, ``Classrooms`` all of a server: the store, bounded and safe to use from threads. It lives in memory where
the page processes meet: in the page process if there is one, in the engine's first worker if several share it (``engine/classrooms.py``).
"""

from classroom.classrooms import CALLS, AnyClassrooms, Classrooms
from classroom.errors import (
    ClassroomError,
    ClosedError,
    FullError,
    NotAllowedError,
    NotTheTeacherError,
    UnknownCodeError,
)
from classroom.records import AFTER, BEFORE, Poll, Quiz, Results, Shown, State

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
