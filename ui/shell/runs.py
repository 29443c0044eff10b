"""Script runs of a session: turns between sessions, fragments, deferred questions, spinner."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf
from threading import Event, Lock, Thread, local
from time import monotonic

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime import app_session
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

# When this session began to wait for its text, and for its pictures.
_TEXT, _PICTURES = "waits_for_text_since", "waits_for_pictures_since"
_PAUSE = 0.1  # seconds; how often a page that waits with its pictures looks whether its visitor typed on
# Looks a second of all such pages together: each takes Python from the page that draws. Of 300, ten a second
# each took a tenth of it.
_LOOKS = 100
# A fragment lets pages go first that begin to wait up to this many seconds later; else a class of phones
# would hold them all up.
_GIVES_WAY = 1.0
_AHEAD = 24  # turns of texts before one of pictures; a text takes two, before and after the network answers

# Waiting since when, a unique number to break ties, and the event that ends the waiting.
_InTurn = tuple[float, int, Event]


class Turns:
    """``places`` threads at a time. Safe to use from threads."""

    def __init__(self, places: int = 1):
        self._free = places
        self._texts: list[_InTurn] = []
        self._pictures: list[_InTurn] = []
        self._texts_in_a_row = 0  # while pictures waited
        self._numbers = count()
        self._lock = Lock()
        self._mine = local()

    @contextmanager
    def taken(self, since: float) -> Iterator[None]:
        """Wait for a place, and hold it. Among those who wait, the one with the smallest ``since`` comes
        next; it is in seconds of ``time.monotonic``."""
        self._take(self._texts, since)
        try:
            yield
        finally:
            self._give()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Give this thread's place, if it has one, to others meanwhile. Afterwards it comes before all that
        have not begun.

        Hold no lock around it: another thread with the place might wait for that lock for ever.
        """
        if not self._give():
            yield
            return
        try:
            yield
        finally:
            self._take(self._texts, -inf)

    def behind_texts(self, since: float, meanwhile: Callable[[], object]) -> None:
        """Wait until no text waits. After _AHEAD texts the one that has waited here longest continues, so
        that none waits for ever.

        ``since`` says from when on this one has waited, in seconds of ``time.monotonic``. ``meanwhile`` is
        called now and then; if it raises, the place is given up.
        """
        if not self.nobody_waits and self._give():
            self._take(self._pictures, since, meanwhile)

    @property
    def nobody_waits(self) -> bool:
        """Whether no page waits for a place; another one may have it."""
        with self._lock:
            return not (self._texts or self._pictures)

    def _take(
        self, queue: list[_InTurn], since: float, meanwhile: Callable[[], object] | None = None
    ) -> None:
        with self._lock:
            place = (since, next(self._numbers), Event())
            if self._free:
                self._free -= 1
                place[-1].set()
            else:
                heappush(queue, place)
        try:
            while not place[-1].wait(max(_PAUSE, len(queue) / _LOOKS) if meanwhile else None):
                if meanwhile:
                    meanwhile()
        except BaseException:
            self._leave(queue, place)
            raise
        self._mine.held = True

    def _leave(self, queue: list[_InTurn], place: _InTurn) -> None:
        with self._lock:
            if place in queue:
                queue.remove(place)
                heapify(queue)
            else:  # its turn has come just now
                self._pass_on()

    def _give(self) -> bool:
        """Whether this thread had a place."""
        held, self._mine.held = getattr(self._mine, "held", False), False
        if held:
            with self._lock:
                self._pass_on()
        return held

    def _pass_on(self) -> None:
        if not (self._texts or self._pictures):
            self._free += 1
            return
        pictures_are_next = not self._texts or self._texts_in_a_row >= _AHEAD
        queue = self._pictures if self._pictures and pictures_are_next else self._texts
        self._texts_in_a_row = self._texts_in_a_row + 1 if self._pictures and queue is self._texts else 0
        heappop(queue)[-1].set()


TURNS = Turns()


@contextmanager
def taken() -> Iterator[None]:
    """One run of this session's page. A run that was ended because the visitor did something keeps its place
    in the queue for the next one: who types fast does not wait for ever."""
    with TURNS.taken(_since(_TEXT)):
        yield
    for name in (_TEXT, _PICTURES):
        st.session_state.pop(name, None)


@contextmanager
def part_taken() -> Iterator[None]:
    """One run of a fragment that draws a picture. Pages that begin to wait up to _GIVES_WAY seconds later go
    first, too. In a run of the whole page, which has its turn already, nothing happens."""
    context = get_script_run_ctx(suppress_warning=True)
    if not (context and context.fragment_ids_this_run):
        yield
        return
    with TURNS.taken(monotonic() + _GIVES_WAY):
        yield


@contextmanager
def locked(lock: Lock) -> Iterator[None]:
    """Hold ``lock``, with this run's turn given to others while it waits for it: a run that holds the lock
    gives its turn away while the network answers, and has to get it again to release the lock."""
    with TURNS.aside():
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def behind_texts() -> None:
    """Let the texts of other pages go first, once this page has shown its own. Where the visitor does
    something meanwhile that draws the whole page, this run ends here."""
    st.session_state.pop(_TEXT, None)
    TURNS.behind_texts(_since(_PICTURES), lambda: _PICTURES in st.session_state)


def _since(name: str) -> float:
    return st.session_state.setdefault(name, monotonic())


TEXT_FRAGMENT = "text"  # the fragment with the text and its pictures, see ``ui/sentence/page.py``
_TAKEN: ContextVar[bool] = ContextVar("taken_for_whole", default=False)


class WholeQueue(ForwardMsgQueue):
    """Messages on their way to one browser, of which a run of a fragment drops none.

    Streamlit drops the fragment's part of a page that is still in the queue. The parts behind it then arrive
    at other places than their own: a class lost its buttons, or the page broke ("Bad delta path index").
    """

    def clear(
        self, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        if fragment_ids_this_run is None:
            super().clear(retain_lifecycle_msgs)
        else:  # later messages stand behind those that wait, in place of none
            self._delta_index_map = {}


def use_whole_queues() -> None:
    """Give each session that begins from now on a ``WholeQueue``."""
    app_session.ForwardMsgQueue = WholeQueue  # type: ignore[attr-defined]


def runs_alone() -> bool:
    """Whether this run draws the text and its pictures, but not the rest of the page."""
    return any(part in _running_fragments() for part in _text_fragments())


def runs_another() -> bool:
    """Whether this run draws only a fragment in which the visitor neither types nor chooses, such as one that
    waits for the model."""
    return bool(_running_fragments()) and not runs_alone() and not _TAKEN.get()


@contextmanager
def taken_for_whole() -> Iterator[None]:
    """Inside, this run counts as one of the whole page, because its caller knows that the visitor typed or
    chose something."""
    before = _TAKEN.set(True)
    try:
        yield
    finally:
        _TAKEN.reset(before)


def _running_fragments() -> list[str]:
    context = get_script_run_ctx(suppress_warning=True)
    return (context and context.fragment_ids_this_run) or []


def _text_fragments() -> list[str]:
    context = get_script_run_ctx(suppress_warning=True)
    try:
        return context.fragment_storage.resolve_target(TEXT_FRAGMENT) if context else []
    except StreamlitAPIException:  # this page has no such part
        return []


_LATER = "asked_later"


def ask_later(question: Callable[[], object]) -> None:
    """Ask this after the page is drawn. The engine keeps the answer, and the next run finds it."""
    st.session_state[_LATER] = question


def ask_last(question: Callable[[], object]) -> None:
    """``ask_later``, unless this run asks another question."""
    st.session_state.setdefault(_LATER, question)


def drop_questions() -> None:
    """Forget the questions of a run that was ended before it could ask them."""
    st.session_state.pop(_LATER, None)


def ask_rest() -> None:
    """Ask the questions that this run left for later, if any, and run the page again. Raises the errors of
    the questions, such as EngineError."""
    question = st.session_state.get(_LATER)
    if question is None:
        return
    question()
    give_way()
    drop_questions()
    st.rerun()


def give_way() -> None:
    """End this run here if the visitor did something meanwhile: Streamlit does where the session is read."""
    st.session_state.get(_LATER)


SLOW = 0.4  # seconds; Streamlit waits a tenth of a second more
_WATCHES = ThreadPoolExecutor(max_workers=32, thread_name_prefix="spinner")  # kept from one work to the next


@contextmanager
def spinner(text: str) -> Iterator[None]:
    """Show ``text`` and a turning sign here from SLOW seconds on, until the work inside is done."""
    done, telling = Event(), Lock()

    def show() -> None:
        with st.spinner(text):
            done.wait()

    # The copied context holds the container in which the page is drawing.
    note = add_script_run_ctx(Thread(target=copy_context().run, args=(show,)), get_script_run_ctx())

    def watch() -> None:
        if done.wait(SLOW):
            return
        with telling:
            if not done.is_set():
                note.start()
                note.join()

    watching = _WATCHES.submit(watch)
    try:
        yield
    finally:
        done.set()
        if telling.locked():
            watching.result()  # the note has to go before the page draws its next element
