"""What the server does before its first visitor comes."""

import asyncio
import runpy
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine import EngineError
from ui.asking import loaders
from ui.shell.server import send_at_once, started

ROOT = Path(__file__).parents[3]


@pytest.fixture
def listening():
    """A socket made as Streamlit makes its own: asyncio does not know it for TCP."""
    with socket.socket(socket.AF_INET) as found:
        found.bind(("127.0.0.1", 0))
        found.listen()
        yield found


def sends_at_once(listening: socket.socket) -> bool:
    with socket.create_connection(listening.getsockname()), listening.accept()[0] as visitor:
        return bool(visitor.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))


def test_answers_to_who_connects_later_are_sent_at_once(listening):
    assert not sends_at_once(listening)
    send_at_once()
    assert sends_at_once(listening)


def test_closed_sockets_and_those_of_visitors_are_left_alone(listening):
    socket.socket(socket.AF_INET).close()
    with socket.create_connection(listening.getsockname()) as visitor:
        send_at_once()
        assert not visitor.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


class Engines:
    """Stands for ``loaders.engine``."""

    def __init__(self, fails: bool):
        self.fails, self.calls = fails, []

    def __call__(self):
        self.calls.append("start")
        if self.fails:
            raise EngineError("no worker")

    def clear(self):
        self.calls.append("clear")


@pytest.mark.parametrize("fails", [False, True], ids=["workers", "no workers"])
def test_the_workers_live_as_long_as_the_server(listening, monkeypatch, fails):
    engines = Engines(fails)
    monkeypatch.setattr(loaders, "engine", engines)

    async def serve():
        async with started(app):
            assert engines.calls == ["start"]
            assert sends_at_once(listening)

    app = runpy.run_path(str(ROOT / "app.py"), run_name="app")["app"]  # as Streamlit imports it
    with ThreadPoolExecutor(1) as apart:  # the browser tests' Playwright keeps a loop running in this thread
        apart.submit(asyncio.run, serve()).result()
    assert engines.calls == ["start", "clear"]
