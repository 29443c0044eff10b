"""``Watch``: wakes the waiting sessions of a classroom that has changed."""

import time

import pytest

from classroom.classroom import UnknownCodeError
from tests.waiting import wait_until
from ui.classroom.session import Waiting, Watch


@pytest.fixture
def versions() -> dict[str, int]:
    return {"one": 1, "other": 1}


@pytest.fixture
def watch(versions):
    def version_of(code: str) -> int:
        if code not in versions:
            raise UnknownCodeError
        return versions[code]

    return Watch(version_of, pause=0.005)


def test_a_change_wakes_everybody_in_this_classroom_and_nobody_in_another(watch, versions):
    woken = []
    for code, session in (("one", "a"), ("one", "b"), ("other", "c")):
        watch.add(code, session, Waiting(1, lambda session=session: woken.append(session)))
    time.sleep(0.05)
    assert woken == []
    versions["one"] = 2
    wait_until(lambda: sorted(woken) == ["a", "b"])
    time.sleep(0.05)
    assert sorted(woken) == ["a", "b"]  # once, until they have drawn it


def test_the_end_of_a_classroom_wakes_everybody(watch, versions):
    woken = []
    watch.add("one", "a", Waiting(1, lambda: woken.append("a")))
    del versions["one"]
    wait_until(lambda: woken == ["a"])


def test_who_has_left_is_not_woken_and_the_thread_ends_with_the_last(watch, versions):
    woken = []
    watch.add("one", "a", Waiting(1, lambda: woken.append("a")))
    watch.forget("a")
    versions["one"] = 2
    wait_until(lambda: watch._thread is None)
    assert woken == []
    watch.add("one", "b", Waiting(1, lambda: woken.append("b")))  # and begins anew
    wait_until(lambda: woken == ["b"])


def test_a_session_that_fails_keeps_nobody_else_from_being_woken(watch, versions):
    woken = []
    watch.add("one", "a", Waiting(1, lambda: 1 / 0))
    watch.add("one", "b", Waiting(1, lambda: woken.append("b")))
    versions["one"] = 2
    wait_until(lambda: woken == ["b"])
