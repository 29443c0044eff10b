from contextlib import contextmanager
from threading import Event

import pytest

from ui.shell import runs


@pytest.fixture
def shown(monkeypatch):
    """What is shown and taken away again; set once something is there."""
    events, there = [], Event()

    @contextmanager
    def note(text):
        events.append(text)
        there.set()
        yield
        events.append("taken away")

    monkeypatch.setattr(runs.st, "spinner", note)
    return events, there


def test_slow_work_is_told_until_it_is_done(shown, monkeypatch):
    monkeypatch.setattr(runs, "SLOW", 0.0)
    events, there = shown
    with runs.spinner("a moment"):
        assert there.wait(60)
        assert events == ["a moment"]
    assert events == ["a moment", "taken away"]


def test_quick_work_is_not_told(shown, monkeypatch):
    monkeypatch.setattr(runs, "SLOW", 60.0)
    events, _ = shown
    with runs.spinner("a moment"):
        pass
    assert events == []


def test_the_note_goes_where_the_work_fails(shown, monkeypatch):
    monkeypatch.setattr(runs, "SLOW", 0.0)
    events, there = shown
    with pytest.raises(ValueError, match="no answer"), runs.spinner("a moment"):
        there.wait(60)
        raise ValueError("no answer")
    assert events == ["a moment", "taken away"]
