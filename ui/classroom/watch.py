"""Wakes the phones of this page process when something has changed in their classroom.

A phone that only waits costs nothing: one thread looks at each classroom five times a second, and has the fragment SHOWN of a session
drawn again only where the session has drawn something older. The browser still sends its beats (``pulse.py``), seldom, to show
that somebody is there. Where a session cannot be woken, it is drawn again at its beats.

Streamlit has no public way to draw for a session from outside. This does what a browser's timer would do: it hands the runtime a message
that asks for the fragment. ``can_wake`` says whether that is possible.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from classroom import ClassroomError
from ui.asking import loaders

PAUSE = 0.2  # seconds between two looks at a classroom


@dataclass(frozen=True)
class Waiting:
    """A session that has drawn ``version`` of a classroom."""

    version: int
    wake: Callable[[], bool]  # whether there was somebody to be woken


class Watch:
    """The sessions that wait, by the code of their classroom. Safe to use from threads.

    ``version_of`` looks at a classroom; it raises ClassroomError where that is over, and then everybody is woken once.
    """

    def __init__(self, version_of: Callable[[str], int], pause: float = PAUSE):
        self._version_of, self._pause = version_of, pause
        self._waiting: dict[str, dict[str, Waiting]] = {}
        self._lock = Lock()
        self._thread: Thread | None = None

    def add(self, code: str, session: str, waiting: Waiting) -> None:
        """From now on ``session`` is woken once when the classroom is at another version than the one it has drawn."""
        with self._lock:
            self._waiting.setdefault(code, {})[session] = waiting
            if self._thread is None:
                self._thread = Thread(target=self._run, name="classrooms", daemon=True)
                self._thread.start()

    def forget(self, session: str) -> None:
        with self._lock:
            for sessions in self._waiting.values():
                sessions.pop(session, None)

    def _run(self) -> None:
        while self._go_round():
            time.sleep(self._pause)

    def _go_round(self) -> bool:
        """Look at each classroom once; False where nobody waits any more, and the thread ends."""
        with self._lock:
            self._waiting = {code: sessions for code, sessions in self._waiting.items() if sessions}
            if not self._waiting:
                self._thread = None
                return False
            codes = list(self._waiting)
        for code in codes:
            with suppress(Exception):  # the engine does not answer; the next look may find it
                for waiting in self._due(code, self._version(code)):
                    with suppress(Exception):  # a session that ends just now
                        waiting.wake()
        return True

    def _version(self, code: str) -> int | None:
        """None for a classroom that is over."""
        try:
            return self._version_of(code)
        except ClassroomError:
            return None

    def _due(self, code: str, version: int | None) -> list[Waiting]:
        """The sessions that have drawn another version. They are taken out, and wait again after they have drawn."""
        with self._lock:
            sessions = self._waiting.get(code, {})
            due = [session for session, waiting in sessions.items() if waiting.version != version]
            return [sessions.pop(session) for session in due]


WATCH = Watch(lambda code: loaders.classrooms().state_of(code).version)


def wait(code: str, version: int, fragment: str) -> None:
    """From a run of the page: wake this session when the classroom is at another version, and draw ``fragment``, a key."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None or not can_wake():
        return
    session, storage = context.session_id, context.fragment_storage
    message = BackMsg()
    asked = message.rerun_script
    asked.is_auto_rerun = True
    asked.page_script_hash, asked.query_string = context.page_script_hash, context.query_string
    if context.context_info is not None:  # the theme and the language of the browser
        asked.context_info.CopyFrom(context.context_info)

    def wake() -> bool:
        (asked.fragment_id,) = storage.resolve_target(fragment)
        return _hand_over(session, message)

    WATCH.add(code, session, Waiting(version, wake))


def forget() -> None:
    """From a run of a page that shows nothing of a classroom."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None:
        WATCH.forget(context.session_id)


def can_wake() -> bool:
    """Whether a session of this process can be woken: not in a test without a server."""
    return Runtime.exists()


def _hand_over(session: str, message: BackMsg) -> bool:
    """Give the runtime a message, as if the session's browser had sent it; False where nobody is there to see the fragment."""
    runtime = Runtime.instance()
    found: Any = runtime.get_app_session(session)
    if found is None or not found.has_fragment(message.rerun_script.fragment_id):
        return False
    found._event_loop.call_soon_threadsafe(runtime.handle_backmsg, session, message)
    return True
