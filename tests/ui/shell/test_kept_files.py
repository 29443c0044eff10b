"""Web server of the pages: cache of compressed files, TCP_NODELAY, workers."""

import asyncio
import gzip
import random
import runpy
import socket
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import Route

from engine.records import EngineError
from ui.asking import loaders
from ui.shell import server
from ui.shell.server import KeptFiles, started

SCRIPT = b"export const answer = 42;\n" * 400
FONT = random.Random(0).randbytes(5_000)  # as a woff2, it cannot become smaller


class Answer(NamedTuple):
    status: int
    headers: Headers
    body: bytes


class Server:
    """An app with files behind ``KeptFiles``; keeps the headers of the requests that reach it."""

    def __init__(self):
        self.asked: list[Headers] = []

        def answering(*answer, **described):
            async def noted(request):
                self.asked.append(request.headers)
                return Response(*answer, **described)

            return noted

        headers = {"etag": '"1"', "cache-control": "immutable", "accept-ranges": "bytes"}
        headers["vary"] = "accept-encoding"
        script = answering(SCRIPT, media_type="application/javascript", headers=headers)
        routes = [
            Route("/static/missing.js", answering(SCRIPT, 404, media_type="application/javascript")),
            Route("/static/js/script.js", script, methods=["GET", "HEAD"]),
            Route("/static/{path:path}/script.js", script),
            Route("/app/static/font.woff2", answering(FONT, media_type="font/woff2")),
            Route("/media/text.txt", answering("javascript" * 1_000, media_type="text/plain")),
        ]
        self.kept = KeptFiles(Starlette(routes=routes))

    async def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        sent = []
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": b"",
            "headers": [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()],
        }

        async def send(message):
            sent.append(message)

        await self.kept(scope, None, send)
        start, *parts = sent
        body = b"".join(part.get("body", b"") for part in parts)
        return Answer(start["status"], Headers(raw=start["headers"]), body)


def run_apart(coroutine: Coroutine):
    """Run in another thread: the browser tests' Playwright keeps a loop running in this one."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, coroutine).result()


@pytest.fixture
def asked(monkeypatch):
    """``asked(static, (path, headers), …)``: the answers to questions, one after the other, with time to
    compress between them."""
    monkeypatch.setattr(server, "COMPRESS_AFTER", 0.0)

    def ask(static: Server, *questions: tuple[str, dict[str, str]]) -> list[Answer]:
        async def all_of_them():
            answers = []
            for path, headers in questions:
                answers.append(await static.get(path, **headers))
                while static.kept._begun - static.kept._files.keys():
                    await asyncio.sleep(0.005)
            return answers

        return run_apart(all_of_them())

    return ask


TAKES_GZIP = {"accept_encoding": "gzip, deflate, br"}
FIRST = ("/static/js/script.js", TAKES_GZIP)


def test_the_first_visitor_does_not_wait_and_later_ones_get_less(asked):
    static = Server()
    first, second, third = asked(static, *[FIRST] * 3)
    assert first.body == SCRIPT and "content-encoding" not in first.headers
    assert second == third and len(second.body) < len(SCRIPT) / 10
    assert gzip.decompress(second.body) == SCRIPT
    assert len(static.asked) == 1
    # Requested uncompressed: Streamlit would compress a file of ``static/`` for the first visitor.
    assert "accept-encoding" not in static.asked[0]
    expected = {
        "content-type": "application/javascript",
        "content-encoding": "gzip",
        "content-length": str(len(second.body)),
        "cache-control": "immutable",
        "etag": 'W/"1"',
        "vary": "accept-encoding",
    }
    assert dict(second.headers) == expected


@pytest.mark.parametrize(
    "headers",
    [
        {},
        TAKES_GZIP | {"range": "bytes=0-9"},
        TAKES_GZIP | {"method": "HEAD"},
    ],
    ids=["no encoding", "a part", "the head"],
)
def test_who_asks_for_something_else_is_answered_as_before(asked, headers):
    static = Server()
    *_, answer = asked(static, *[FIRST] * 2, (FIRST[0], headers))
    assert len(static.asked) == 2
    assert static.asked[-1].get("accept-encoding") == headers.get("accept_encoding")
    assert "content-encoding" not in answer.headers


def test_what_is_compressed_already_is_kept_as_it_is(asked):
    static = Server()
    first, second = asked(static, *[("/app/static/font.woff2", TAKES_GZIP)] * 2)
    assert first == second and len(static.asked) == 1
    assert (second.body, second.headers["content-type"]) == (FONT, "font/woff2")
    assert "content-encoding" not in second.headers


@pytest.mark.parametrize(
    "path", ["/media/text.txt", "/static/missing.js", "/static/./js/script.js", "/static//js/script.js"]
)
def test_other_answers_and_other_spellings_of_a_path_are_never_kept(asked, path):
    static = Server()
    answers = asked(static, *[(path, TAKES_GZIP)] * 3)
    assert len(static.asked) == 3 and not static.kept._begun
    assert not any("content-encoding" in answer.headers for answer in answers)


@pytest.mark.parametrize("bound", [{"MOST": len(SCRIPT) - 1}, {"MOST_FILES": 0}], ids=["bytes", "files"])
def test_memory_is_bounded(asked, monkeypatch, bound):
    for name, value in bound.items():
        monkeypatch.setattr(server, name, value)
    static = Server()
    answers = asked(static, *[FIRST] * 3)
    assert [answer.body for answer in answers] == [SCRIPT] * 3


def test_what_is_compressed_gives_room_for_others(asked, monkeypatch):
    monkeypatch.setattr(server, "MOST", len(SCRIPT) + 500)  # bytes
    static = Server()
    *_, last = asked(static, *[(f"/static/js/{n}/script.js", TAKES_GZIP) for n in (1, 2, 3, 3)])
    assert last.headers["content-encoding"] == "gzip"


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


class Engines:
    """A fake of ``loaders.engine``."""

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
    run_apart(serve())
    assert engines.calls == ["start", "clear"]
