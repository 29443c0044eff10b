"""Turns of script runs: order of pages and pictures, spinner, imports in between.

A page holds no place while it waits for the network.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread
from types import SimpleNamespace

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session

from tests.waiting import SECONDS, wait_until
from ui.shell import runs, server
from ui.shell.runs import TURNS, Turns


def together(turns: Turns, *pages) -> None:
    """Run ``pages`` in threads; none gets a place before all of them wait for one."""
    begun = Event()

    def first() -> None:
        with turns.taken(0.0):
            begun.set()
            wait_until(lambda: len(turns._texts) == len(pages))

    with ThreadPoolExecutor(len(pages) + 1) as threads:
        running = [threads.submit(first)]
        begun.wait()
        running += [threads.submit(page) for page in pages]
        assert all(each.result() is None for each in running)


def test_one_at_a_time_and_the_oldest_first():
    turns, order = Turns(), []

    def page(since: float) -> None:
        with turns.taken(since):
            order.append(since)

    together(turns, *(partial(page, since) for since in (5.0, 3.0, 4.0)))
    assert order == [3.0, 4.0, 5.0]


def test_who_steps_aside_lets_others_go_ahead_and_comes_back_first():
    turns, order, is_aside, other_runs = Turns(), [], Event(), Event()

    def asks() -> None:
        with turns.taken(9.0):
            with turns.aside():
                is_aside.set()
                other_runs.wait()
            order.append("asked")

    def other() -> None:
        is_aside.wait()
        with turns.taken(1.0):
            other_runs.set()
            wait_until(lambda: len(turns._texts) == 2)
            order.append("other")

    def late() -> None:
        other_runs.wait()
        with turns.taken(2.0):
            order.append("late")

    with ThreadPoolExecutor(3) as threads:
        running = [threads.submit(each) for each in (asks, other, late)]
        assert all(each.result() is None for each in running)
    assert order == ["other", "asked", "late"]


def test_texts_come_before_pictures_and_then_the_oldest_of_these():
    turns, order = Turns(), []

    def page(name: str, text_since: float, pictures_since: float) -> None:
        with turns.taken(text_since):
            order.append(f"text of {name}")
            turns.behind_texts(pictures_since, lambda: None)
            order.append(f"pictures of {name}")

    together(turns, partial(page, "a", 1.0, 9.0), partial(page, "b", 2.0, 7.0), partial(page, "c", 3.0, 8.0))
    texts = [f"text of {name}" for name in "abc"]
    # No text waits when that of "c" is done. Of the pictures, only those of "b" have waited longer than those
    # of "c".
    assert order == [*texts, *(f"pictures of {name}" for name in "bca")]
    assert turns._free == 1


def test_pictures_do_not_wait_for_ever():
    turns, order, is_behind, ended = Turns(), [], Event(), Event()

    def page() -> None:
        with turns.taken(0.0):
            is_behind.wait()
            turns.behind_texts(0.0, lambda: None)
            order.append("pictures")

    def text(number: int) -> None:
        with turns.taken(1.0 + number):
            ended.wait()
            order.append("text")

    with ThreadPoolExecutor(41) as threads:
        running = [threads.submit(page)]
        wait_until(lambda: turns._free == 0)
        running += [threads.submit(text, number) for number in range(40)]
        wait_until(lambda: len(turns._texts) == 40)
        is_behind.set()
        wait_until(lambda: len(turns._pictures) == 1)
        ended.set()
        assert all(each.result() is None for each in running)
    assert 0 < order.index("pictures") < 40
    assert len(order) == 41 and turns._free == 1


def test_alone_a_page_goes_on_at_once_and_one_that_raises_gives_its_place_back():
    turns, looked = Turns(), []
    with turns.taken(0.0):
        turns.behind_texts(1.0, lambda: looked.append(1))
        assert turns._free == 0
    assert not looked
    with pytest.raises(KeyError), turns.taken(0.0):
        raise KeyError
    with turns.taken(0.0), turns.aside():
        pass
    with turns.aside():  # outside of any page no place is held
        turns.behind_texts(1.0, lambda: looked.append(1))
        assert turns._free == 1
    assert turns._free == 1


def test_a_page_that_is_ended_while_it_waits_with_its_pictures_leaves_the_queue():
    turns, is_behind, ended = Turns(), Event(), Event()

    def page() -> None:
        with turns.taken(1.0):
            is_behind.wait()

            def end() -> None:
                raise KeyError

            turns.behind_texts(2.0, end)

    def other() -> None:
        with turns.taken(3.0):
            ended.wait()

    with ThreadPoolExecutor(2) as threads:
        running = threads.submit(page)
        holding = threads.submit(other)
        wait_until(lambda: len(turns._texts) == 1)
        is_behind.set()
        with pytest.raises(KeyError):
            running.result()
        assert not turns._texts and not turns._pictures  # the other one has the place
        ended.set()
        holding.result()
    assert turns._free == 1


@pytest.fixture
def shown(monkeypatch):
    """The placeholder's events, "shown" and "gone", and an Event set once it is shown."""
    monkeypatch.setattr(runs, "SLOW", 0.0)
    events, there = [], Event()

    @contextmanager
    def note(text):
        events.append(text)
        there.set()
        yield
        events.append("taken away")

    monkeypatch.setattr(runs.st, "spinner", note)
    return events, there


def test_slow_work_is_told_until_it_is_done_or_fails_and_quick_work_is_not(shown, monkeypatch):
    events, there = shown
    with runs.spinner("a moment"):
        assert there.wait(60)
        assert events == ["a moment"]
    assert events == ["a moment", "taken away"]
    there.clear()
    with pytest.raises(ValueError, match="no answer"), runs.spinner("a moment"):
        there.wait(60)
        raise ValueError("no answer")
    assert events == ["a moment", "taken away"] * 2
    monkeypatch.setattr(runs, "SLOW", 60.0)
    with runs.spinner("a moment"):
        pass
    assert len(events) == 4


@pytest.fixture
def imported(monkeypatch):
    """Set when the libraries are imported, which imports nothing here."""
    imported = Event()
    monkeypatch.setattr(server, "import_module", lambda _: imported.set())
    return imported


@contextmanager
def a_page_waits() -> Iterator[None]:
    place = (0.0, 0, Event())
    TURNS._texts.append(place)
    yield
    TURNS._texts.remove(place)


@pytest.mark.parametrize("busy", [a_page_waits, partial(TURNS.taken, 0.0)], ids=["waits", "is drawn"])
def test_nothing_is_imported_while_a_page_waits_or_is_drawn(monkeypatch, imported, busy):
    """Plotly would use a half imported library."""
    soon = Event()
    monkeypatch.setattr(server, "time", SimpleNamespace(sleep=lambda _: soon.wait(0.01)))
    with busy():
        thread = Thread(target=server._import_libraries)
        thread.start()
        assert not imported.wait(0.1)
    thread.join(SECONDS)
    assert imported.is_set()


def test_a_run_of_a_fragment_drops_nothing_of_a_page_on_its_way(monkeypatch):
    monkeypatch.setattr(app_session, "ForwardMsgQueue", app_session.ForwardMsgQueue)
    runs.use_whole_queues()
    queue = app_session.ForwardMsgQueue()

    def sent(text: str, place: int, fragment: str = "") -> ForwardMsg:
        message = ForwardMsg()
        message.metadata.delta_path.extend([0, place])
        message.delta.new_element.markdown.body, message.delta.fragment_id = text, fragment
        return message

    page = [sent("title", 0), sent("text", 1, "text"), sent("below", 2)]
    for message in page:
        queue.enqueue(message)
    queue.clear(True, ["text"])
    again = sent("text", 1, "text")
    queue.enqueue(again)
    assert queue.flush() == [*page, again]

    queue.enqueue(page[0])
    queue.clear(True)  # a run of the whole page begins
    assert queue.is_empty()
