"""``SharedClassrooms``: the classrooms behind a link, for several page processes."""

import time
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from classroom import CALLS, AnyClassrooms, Classrooms
from classroom.classroom import Classroom
from engine.links import LOST
from engine.records import (
    CLASSROOMS,
    EngineDiedError,
    Message,
    ModelKey,
)

P = ParamSpec("P")
R = TypeVar("R")
_NO_MODEL = ModelKey("", None, "")
_CALL_SECONDS = 5.0  # for one call


class Asks(Protocol):
    """A way for calls: ``engine.links.Link`` or ``engine.remote.RemoteLink``."""

    def ask(self, message: Message, deadline: float) -> tuple[Any, int]: ...

    def wait_for_loss(self) -> None: ...


class SharedClassrooms(AnyClassrooms):
    """The classrooms behind a link: in the first worker, or in a separate replica in Ray Serve
    (``deploy/serve.py``).

    If that process ends, the classrooms are gone; teachers open new ones. Every call raises EngineError where
    no answer comes.
    """

    def __init__(self, link: Asks):
        self._link = link

    def open(self) -> tuple[str, str]:
        return self._send("open")

    def end(self, code: str, key: str) -> None:
        self._send("end", code, key)

    def _call(
        self,
        method: Callable[Concatenate[Classroom, float, P], R],
        code: str,
        *arguments: P.args,
        **named: P.kwargs,
    ) -> R:
        return self._send(method.__name__, code, *arguments, *named.values())

    def _send(self, name: str, *arguments: Any) -> Any:
        """Ask once more where the way broke: a call goes through any replica, and that one may have been
        killed.

        A call that had arrived is then made twice, which does no harm: a second opening or seat is never
        used, and all others are idempotent.
        """
        deadline = time.monotonic() + _CALL_SECONDS
        for _ in range(2):
            try:
                found, _ = self._link.ask(Message(_NO_MODEL, CLASSROOMS, (name, *arguments)), deadline)
                return found
            except LOST as error:
                lost = error
                self._link.wait_for_loss()
        raise EngineDiedError("the process with the classrooms does not answer") from lost


def answer_call(classrooms: Classrooms, arguments: tuple[Any, ...]) -> Any:
    """One call of ``AnyClassrooms``, as it came from another process: its name, then its arguments.

    >>> rooms = Classrooms()
    >>> code, key = answer_call(rooms, ("open",))
    >>> answer_call(rooms, ("state_of", code)).present
    0
    """
    match arguments:
        case [str(name), *rest] if name in CALLS:
            return getattr(classrooms, name)(*rest)
    raise ValueError("this is no call of a classroom")
