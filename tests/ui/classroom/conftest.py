"""Fixtures of the class's pages: separate classrooms, cookies, an open class."""

import pytest

from classroom.store import Classrooms
from ui.asking import loaders
from ui.shell import address


@pytest.fixture
def rooms(monkeypatch) -> Classrooms:
    found = Classrooms()
    monkeypatch.setattr(loaders, "classrooms", lambda: found)
    return found


@pytest.fixture(autouse=True)
def cookies(monkeypatch) -> dict[str, str]:
    """The cookies with which the next session's browser comes."""
    brought: dict[str, str] = {}
    monkeypatch.setattr(address, "cookie", brought.get)
    return brought


@pytest.fixture
def opened(rooms) -> tuple[str, str]:
    """(code, key) of a classroom that a teacher has opened elsewhere."""
    return rooms.open()


@pytest.fixture
def teacher(rooms, cookies, opened) -> tuple[str, str]:
    """(code, key) of the class ``opened``, which the teacher's browser keeps."""
    code, key = opened
    cookies |= {"attention_class": code, f"classroom_{code}": f"{rooms.join(code)}.{key}"}
    return opened
