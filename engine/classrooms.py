"""Where classrooms live: in the page's process if it is the only one, else where the page processes meet.

Page processes that share workers share their classrooms, too: they lie in the first worker, or in a single replica of their own in Ray
Serve (``deploy/serve.py``). A call travels as a question does. If that worker ends, the classrooms are gone, as they live in memory
only; teachers open new ones.
"""

import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Protocol, cast

from classroom import CALLS, AnyClassrooms, Classrooms
from engine.errors import EngineDiedError
from engine.link import LOST
from engine.progress import CLASSROOMS
from engine.versions import ModelKey, Question

_NO_MODEL = ModelKey("", None, "")
_PATIENCE = 5.0  # seconds for one call


class Asks(Protocol):
    """What a call travels through: ``engine.link.Link`` or ``engine.remote.RemoteLink``."""

    def ask(self, question: Question, deadline: float) -> tuple[Any, int]: ...

    def wait_for_loss(self) -> None: ...


def shared(link: Asks) -> AnyClassrooms:
    """The classrooms that lie behind ``link``."""
    return cast(AnyClassrooms, _SharedClassrooms(link))


class _SharedClassrooms:
    """Sends every call of ``AnyClassrooms`` through a link. Raises EngineError where no answer comes."""

    def __init__(self, link: Asks):
        self._link = link

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in CALLS:
            raise AttributeError(name)
        return partial(self._call, name)

    def _call(self, name: str, *arguments: Hashable) -> Any:
        """Ask once more where the way broke: a call goes through any replica, and that one may have been killed.

        A call that had arrived is then made twice, which does no harm: a second opening or seat is never used, and what is shown,
        asked or answered twice is as if it had come once.
        """
        deadline = time.monotonic() + _PATIENCE
        for _ in range(2):
            try:
                found, _ = self._link.ask((_NO_MODEL, CLASSROOMS, (name, *arguments)), deadline)
                return found
            except LOST as error:
                lost = error
                self._link.wait_for_loss()
        raise EngineDiedError("the process with the classrooms does not answer") from lost


def answer(classrooms: Classrooms, arguments: tuple) -> Any:
    """One call of ``AnyClassrooms``, as it came from another process: its name, then its arguments.

    >>> rooms = Classrooms()
    >>> code, key = answer(rooms, ("open",))
    >>> answer(rooms, ("state_of", code)).present
    0
    """
    match arguments:
        case [str(name), *rest] if name in CALLS:
            return getattr(classrooms, name)(*rest)
    raise ValueError("this is no call of a classroom")
