"""Membership of a session in a classroom: seat, updates of its state, the bar of each page.

A link names the classroom; from then on a cookie of the browser does, so that any other link keeps it. Each
member has a seat, the teacher also a key. Neither is in the address, which a projector shows: they are kept
in the session and in a cookie, so that a reload finds the same seat and the teacher stays the teacher.

``Watch`` wakes the phones of this page process when something has changed in their classroom. A phone that
only waits costs nothing: one thread looks at each classroom five times a second, and has the fragment SHOWN
of a session drawn again only where the session has drawn something older. Streamlit has no public way to draw
for a session from outside. This does what a browser's timer would do: it hands the runtime a message that
asks for the fragment. ``_can_wake`` says whether that is possible.

``listen`` receives the beats of a browser. Each says that the visitor is still there, and draws one line
about the classroom. A beat costs the server some four milliseconds, so a phone's are seldom. Where a session
cannot be woken, or a change was missed, the next beat draws the news.

``show_bar`` draws the line at the bottom of every page, which shows a member how many are present, and leads
to the class's page. For the teacher it also sends the page and its settings to the class whenever they have
changed.
"""

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from classroom.classroom import ClassroomError, State, UnknownCodeError
from classroom.store import in_groups, tidy
from ui.asking import loaders
from ui.classroom import lessons
from ui.components.component import component
from ui.shell import address, controls, header, markup
from ui.wording import say

SETTING = "class"  # the code, in the address
PAGE = "classroom"
_MINE, _SEEN = "classroom_membership", "classroom_seen"  # _SEEN: code of the last class; empty: only named
_COMPONENT = component("classroom_keeper", js=Path(__file__).with_name("keeper.js").read_text("utf-8"))


@dataclass(frozen=True)
class Membership:
    """This session in the classroom ``code``. ``key`` is empty except for the teacher."""

    code: str
    seat: str
    key: str = ""

    @property
    def teaches(self) -> bool:
        return bool(self.key)

    def state(self) -> State:
        """The state that this seat may know; asking counts as being present. Raises UnknownCodeError once the
        classroom is over."""
        return loaders.classrooms().state_of(self.code, self.seat)


def current() -> Membership | None:
    """The classroom that the address names, joined where this session has not joined it yet; None where it
    names none.

    Raises UnknownCodeError for a code that no classroom has, and FullError where no seat is left.
    """
    asked = address.get(SETTING)
    if not asked:
        return None
    code, mine = tidy(asked), st.session_state.get(_MINE)
    if mine is None or mine.code != code:
        try:
            mine = st.session_state[_MINE] = _joined(code)
        except UnknownCodeError:
            if _SEEN in st.session_state or address.is_from_link(SETTING):
                raise
            address.put(SETTING, "")  # of a lesson that is over, which the browser remembered
            return None
    st.session_state[_SEEN] = code
    return mine


def is_over() -> bool:
    """Whether the classroom that the address names is over, of which this session was a member."""
    code = tidy(address.get(SETTING))
    return bool(code) and st.session_state.get(_SEEN) == code and _MINE not in st.session_state


def _joined(code: str) -> Membership:
    """With the seat and the key of the browser's cookie, as far as they are right."""
    if not code:
        raise UnknownCodeError("this is no code")
    rooms = loaders.classrooms()
    seat, _, key = (address.cookie(_cookie_name(code)) or "").partition(".")
    return Membership(code, rooms.join(code, seat, key), key if key and rooms.is_teacher(code, key) else "")


def open_classroom() -> None:
    """Before ``st.rerun``: open a classroom, of which this session is the teacher.

    Raises FullError where too many are open.
    """
    rooms = loaders.classrooms()
    code, key = rooms.open()
    st.session_state[_MINE] = Membership(code, rooms.join(code, key=key), key)
    address.put(SETTING, code)


def enter(typed: str) -> None:
    """Before ``st.rerun``: be in the classroom of this code from now on."""
    st.session_state.pop(_MINE, None)
    st.session_state[_SEEN] = ""
    address.put(SETTING, tidy(typed) or typed[:40])


def forget_seat() -> None:
    """The classroom does not answer to this seat any more: ``current`` joins anew or raises the error."""
    st.session_state.pop(_MINE, None)


def leave() -> None:
    """From a callback: be in no classroom any more. The teacher's leaving ends it. A ClassroomError means
    that it is over already."""
    mine = st.session_state.pop(_MINE, None)
    if mine is not None and mine.teaches:
        try:
            loaders.classrooms().end(mine.code, mine.key)
        except ClassroomError:  # it is over already
            pass
    lessons.end()
    address.put(SETTING, "")


def keep(mine: Membership) -> None:
    """Have the browser keep seat and key for the next session."""
    value = f"{mine.seat}.{mine.key}" if mine.teaches else mine.seat
    _COMPONENT(key="classroom_keeper", data={"name": _cookie_name(mine.code), "value": value})


def links(code: str) -> tuple[str, ...]:
    """The addresses by which a phone joins, the likeliest first: this page's own, or, where that leads back
    to the machine that opens it, those of the server's networks at which it answers."""
    place = urlsplit(st.context.url or "")
    path = place.path.removesuffix("/").removesuffix(f"/{PAGE}")
    own = f"{place.scheme}://{place.netloc}{path}/{PAGE}?{SETTING}={code}"
    if place.port is None or not is_only_here(own):
        return (own,)
    found = (urlsplit(own)._replace(netloc=f"{host}:{place.port}") for host in _hosts(place.port))
    return tuple(each.geturl() for each in found) or (own,)


@st.cache_data(ttl=60, show_spinner=False)
def _hosts(port: int) -> tuple[str, ...]:
    """The machine's IPv4 addresses in its networks at which this server answers."""
    found = []
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as towards:
        towards.connect(("192.0.2.1", 9))  # which sends nothing: it asks which network would be taken
        found.append(towards.getsockname()[0])
    with suppress(OSError):
        found += socket.gethostbyname_ex(socket.gethostname())[2]
    return tuple(
        host for host in dict.fromkeys(found) if not host.startswith("127.") and _answers(host, port)
    )


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=0.3).close()
    except OSError:
        return False
    return True


def is_only_here(address_: str) -> bool:
    """Whether this address leads back to the machine that opens it, so that no phone can use it.

    >>> is_only_here("http://localhost:8501/"), is_only_here("http://192.168.0.7:8501/")
    (True, False)
    """
    return (urlsplit(address_).hostname or "") in ("localhost", "127.0.0.1", "::1", "0.0.0.0")


def _cookie_name(code: str) -> str:
    return f"classroom_{code}"


WATCH_PAUSE = 0.2  # seconds between two looks at a classroom


@dataclass(frozen=True)
class Waiting:
    """A session that has drawn ``version`` of a classroom."""

    version: int
    wake: Callable[[], bool]  # whether the session still existed


class Watch:
    """The sessions that wait, by the code of their classroom. Safe to use from threads.

    ``version_of`` looks at a classroom; it raises ClassroomError where that is over, and then all sessions
    are woken once.
    """

    def __init__(self, version_of: Callable[[str], int], pause: float = WATCH_PAUSE):
        self._version_of, self._pause = version_of, pause
        self._waiting: dict[str, dict[str, Waiting]] = {}
        self._lock = Lock()
        self._thread: Thread | None = None

    def add(self, code: str, session: str, waiting: Waiting) -> None:
        """From now on ``session`` is woken once when the classroom is at another version than the one it has
        drawn. The look at a classroom comes every 0.2 seconds."""
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
        """The sessions that have drawn another version. They are taken out, and wait again after they have
        drawn."""
        with self._lock:
            sessions = self._waiting.get(code, {})
            due = [session for session, waiting in sessions.items() if waiting.version != version]
            return [sessions.pop(session) for session in due]


WATCH = Watch(lambda code: loaders.classrooms().state_of(code).version)


def _wait_for_change(code: str, version: int, fragment: str) -> None:
    """From a run of the page: wake this session when the classroom is at another version, and draw
    ``fragment``, a key."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None or not _can_wake():
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


def _stop_waiting() -> None:
    """From a run of a page that shows nothing of a classroom."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None:
        WATCH.forget(context.session_id)


def _can_wake() -> bool:
    """Whether a session of this process can be woken: not in a test without a server."""
    return Runtime.exists()


def _hand_over(session: str, message: BackMsg) -> bool:
    runtime = Runtime.instance()
    found: Any = runtime.get_app_session(session)
    if found is None or not found.has_fragment(message.rerun_script.fragment_id):
        return False
    found._event_loop.call_soon_threadsafe(runtime.handle_backmsg, session, message)
    return True


# Milliseconds between two beats: of the teacher, who counts answers, and of a phone.
SOON, SELDOM = (
    1000,
    5000,
)
SHOWN = "classroom_shown"  # the key of the fragment that shows the news
_PULSE_KEY = "classroom_pulse"
_DRAWN = "classroom_drawn"  # the version that this session has drawn
_HEARD = "classroom_heard"  # the state that the last beat received, until it is drawn
_PULSE = component("classroom_pulse", js=Path(__file__).with_name("pulse.js").read_text("utf-8"))


def drawn(mine: Membership, state: State) -> None:
    """Remember that this state is on the screen, and wait for another one. A change wakes this session within
    0.2 seconds."""
    st.session_state[_DRAWN] = state.version
    _wait_for_change(mine.code, state.version, SHOWN)


def _every(mine: Membership) -> int:
    """Milliseconds between two beats."""
    return SOON if mine.teaches or not _can_wake() else SELDOM


def draw_again() -> None:
    """The screen shows only a placeholder, so draw again at the next beat."""
    st.session_state[_DRAWN] = None


@st.fragment
def listen(mine: Membership, told: Callable[[State], str], follows: bool) -> None:
    """One line about the classroom, which ``told`` words. With ``follows`` the fragment SHOWN is drawn again
    after each change. Catches ClassroomError and EngineError."""

    def beat() -> None:
        try:
            state = st.session_state[_HEARD] = mine.state()
            news = state.version != st.session_state.get(_DRAWN)
        except ClassroomError:
            forget_seat()
            st.rerun()  # it is over, which the whole page says
        except loaders.EngineError:
            return  # the next beat may be answered
        if news and follows:
            st.rerun(SHOWN)

    _PULSE(
        key=_PULSE_KEY,
        data={"every": _every(mine), "step": address.get(lessons.LESSON.name)},
        on_beat_change=beat,
    )
    try:
        markup.paragraph(told(st.session_state.pop(_HEARD, None) or mine.state()), "class-count")
    except (ClassroomError, loaders.EngineError):
        markup.paragraph(say("class_silent"), "class-count")


_TOLD = "classroom_told"  # the page and settings that the class got last
LAST_PAGE = "classroom_last_page"  # the page that the teacher showed last


def go_on(mine: Membership) -> None:
    """In a session that the teacher begins at the class's page, as after a reload: know the page and the
    settings that the class was shown last. A link with a sentence keeps its own settings. Raises
    ClassroomError."""
    if not mine.teaches or LAST_PAGE in st.session_state:
        return
    try:
        shown = mine.state().shown
    except loaders.EngineError:  # the next run may be answered
        return
    if shown is not None:
        st.session_state[LAST_PAGE] = shown.page
        if not address.is_from_link("sentence"):
            address.adopt(shown.settings)


def show_bar(page: str) -> None:
    """Draw the line, and send the page's settings to the class. The class's own page has no line. Catches
    ClassroomError."""
    if page == PAGE:
        return
    _stop_waiting()
    try:
        mine = current()
        if mine is None:
            return
        if mine.teaches:
            _tell(mine, page)
    except ClassroomError:
        with controls.line(key="class_bar"):
            markup.paragraph(say("class_ended" if is_over() else "class_unknown"), "class-count")
            st.button(say("class_over"), key="class_over", on_click=leave)
        return
    keep(mine)
    with controls.line(key="class_bar"):
        listen(mine, _words(mine), follows=False)
        if mine.teaches:
            lessons.show(page)
        text = "class_bar_teacher" if mine.teaches else "class_bar_back"
        controls.button(say(text), "class_bar_open", header.turn_to, PAGE, icon=":material/groups:")


def _words(mine: Membership) -> Callable[[State], str]:
    def words(state: State) -> str:
        if not mine.teaches:
            asked = state.poll is not None or (state.quiz is not None and state.quiz.phase)
            return say("class_bar_asked" if asked else "class_bar_looking_around")
        return say("class_bar_count", code=in_groups(mine.code), count=max(0, state.present - 1))

    return words


def _tell(mine: Membership, page: str) -> None:
    shown = page, address.shared("sentence")
    st.session_state[LAST_PAGE] = page
    if st.session_state.get(_TOLD) == (mine.code, shown):
        return
    try:
        loaders.classrooms().show(mine.code, mine.key, *shown)
    except loaders.EngineError:  # the next run tells it
        return
    st.session_state[_TOLD] = mine.code, shown
