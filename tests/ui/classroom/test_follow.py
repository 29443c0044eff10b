"""Pictures for students' phones: made once for all, and in turns."""

from contextlib import nullcontext
from threading import Event, Thread
from types import SimpleNamespace
from typing import ClassVar

import pytest

from classroom.classroom import Shown
from ui.classroom import follow
from ui.shell import runs
from ui.views import view

SECONDS = 10


@pytest.fixture
def session(monkeypatch):
    """The session of a phone, whose page process has its own turns."""
    monkeypatch.setattr(runs, "TURNS", runs.Turns())
    monkeypatch.setattr(follow.address, "settings_of", lambda settings: nullcontext())
    monkeypatch.setattr(follow.controls, "theme", lambda: "light")
    monkeypatch.setattr(follow, "language", lambda: "ko")


@pytest.mark.usefixtures("session")
def test_a_phone_that_waits_for_the_picture_of_another_gives_it_its_turn(monkeypatch):
    """The first gives its turn away while the network answers. If the second took that turn and kept it until
    the first had its picture, neither would ever get one."""
    asked, second, made = Event(), Event(), []
    phones = iter((Event(), second))

    def corrector():
        next(phones).set()  # this phone has its turn
        return SimpleNamespace(fingerprint="of this test alone")

    def kept(key, page):
        with runs.TURNS.aside():  # as the engine waits for an answer
            asked.set()
            assert second.wait(SECONDS)
        made.append(key)
        return follow._CACHE.get(key, lambda: ("a picture", 1))

    def phone():
        with runs.TURNS.taken(0.0):
            found.append(follow._picture(Shown("attention", ())))

    monkeypatch.setattr(follow, "_corrector_of_page", corrector)
    monkeypatch.setattr(follow, "_kept", kept)
    found, threads = [], [Thread(target=phone, daemon=True) for _ in range(2)]
    threads[0].start()
    assert asked.wait(SECONDS)
    threads[1].start()
    for thread in threads:
        thread.join(SECONDS)
    assert found == ["a picture"] * 2
    assert len(made) == 1


def test_a_phone_gets_the_open_figure_once_all_that_it_shows_is_known(monkeypatch):
    known = []
    monkeypatch.setattr(view, "DECLARED", [])
    monkeypatch.setattr(view, "plot_part", lambda state, name, figure, label: ("plot", figure))

    class Shown(view.View):
        name, page, order = "a view of this test", "laboratory", 0
        opened = ("second",)
        beside: ClassVar = {"second": "kind-second"}

        @property
        def figures(self):
            return {name: (f"{name} with {known}", f"about {name}") for name in ("first", "second")}

        def complete(self):
            known.append("lines")

    assert Shown(SimpleNamespace(), {}).parts() == [
        ("described", {"text": "about second", "kind": "kind-second"}),
        ("plot", "second with ['lines']"),
    ]
