"""Pages take turns: one at a time, who waited longest first, and nobody holds a place while the network is asked."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from tests.ui.screen import told
from ui.turns import TURNS, Turns


def wait_until(is_so) -> None:
    for _ in range(2000):
        if is_so():
            return
        Event().wait(0.005)
    raise AssertionError("it never came to that")


def test_one_at_a_time_and_the_oldest_first():
    turns, order, begun = Turns(), [], Event()

    def page(since: float) -> None:
        with turns.taken(since):
            order.append(since)

    def first() -> None:
        with turns.taken(0.0):
            begun.set()
            wait_until(lambda: len(turns._waiting) == 3)

    with ThreadPoolExecutor(4) as threads:
        running = [threads.submit(first)]
        begun.wait()
        running += [threads.submit(page, since) for since in (5.0, 3.0, 4.0)]
        assert all(each.result() is None for each in running)
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
            wait_until(lambda: len(turns._waiting) == 2)
            order.append("other")

    def late() -> None:
        other_runs.wait()
        with turns.taken(2.0):
            order.append("late")

    with ThreadPoolExecutor(3) as threads:
        running = [threads.submit(each) for each in (asks, other, late)]
        assert all(each.result() is None for each in running)
    assert order == ["other", "asked", "late"]


def test_a_page_that_raises_gives_its_place_back():
    turns = Turns()
    with pytest.raises(KeyError), turns.taken(0.0):
        raise KeyError
    with turns.taken(0.0), turns.aside():
        pass
    with turns.aside():  # outside of any page nobody holds a place
        assert turns._free == 1
    assert turns._free == 1


def test_a_page_that_is_drawn_leaves_no_trace_of_its_turn(open_app):
    app = open_app()
    assert told(app)
    assert "waits_since" not in app.session_state
    assert TURNS._free == 1
