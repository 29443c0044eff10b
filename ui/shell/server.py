"""Web server of the pages: start, early imports, TCP_NODELAY, compressed static files."""

import asyncio
import gc
import gzip
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from math import inf
from posixpath import normpath
from threading import Lock, Thread, Timer
from typing import NamedTuple

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.shell import runs

COMPRESS_AFTER = 2.0  # seconds; who has just opened the page first needs both cores
KEPT = ("javascript", "css", "font")  # in the type of a file
MOST = 16_000_000  # bytes in all, and of those that wait to be compressed; Streamlit's files have 7 MB
MOST_FILES = 1_000  # Streamlit has 350
_MINE = "/static/"  # a part of the paths of Streamlit's files and of ours


class _File(NamedTuple):
    headers: list[tuple[bytes, bytes]]
    body: bytes


class KeptFiles:
    """ASGI middleware: the first who asks for a file gets it as it is, later ones the compressed form, if
    that is smaller.

    A file keeps its content as long as the server runs.
    """

    def __init__(self, app: ASGIApp):
        self._app = app
        self._files: dict[str, _File] = {}
        self._begun: set[str] = set()  # paths that are compressed now or have been
        self._room = MOST  # bytes
        self._lock = Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if not _wants_compressed(scope):
            await self._app(scope, receive, send)
        elif file := self._files.get(path):
            await send({"type": "http.response.start", "status": 200, "headers": file.headers})
            await send({"type": "http.response.body", "body": file.body})
        # One file answers to endless spellings of its path, so only the plain one is kept.
        elif path in self._begun or len(self._begun) >= MOST_FILES or path != normpath(path):
            await self._app(scope, receive, send)
        else:
            headers = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
            await self._app({**scope, "headers": headers}, receive, self._listening(path, send))

    def _listening(self, path: str, send: Send) -> Send:
        headers: list[tuple[bytes, bytes]] | None = None
        parts: list[bytes] = []

        async def send_and_listen(message: Message) -> None:
            nonlocal headers
            if message["type"] == "http.response.start":
                headers = list(message["headers"]) if _is_kept(message) else None
            elif headers is not None and message["type"] == "http.response.body":
                parts.append(message.get("body", b""))
                if not message.get("more_body"):
                    self._begin(path, _File(headers, b"".join(parts)))
            await send(message)

        return send_and_listen

    def _begin(self, path: str, file: _File) -> None:
        if path not in self._begun and self._take(len(file.body)):
            self._begun.add(path)
            loop = asyncio.get_running_loop()
            loop.call_later(COMPRESS_AFTER, loop.run_in_executor, None, self._compress, path, file)

    def _take(self, size: int) -> bool:
        """Take so many bytes of the room; of less than none, give them back."""
        with self._lock:
            fits = size <= self._room
            self._room -= size if fits else 0
            return fits

    def _compress(self, path: str, file: _File) -> None:
        body = gzip.compress(file.body, mtime=0)
        if len(body) < len(file.body):
            headers = MutableHeaders(raw=file.headers)
            headers["content-encoding"], headers["content-length"] = "gzip", str(len(body))
            if "accept-encoding" not in headers.get("vary", "").lower():
                headers.add_vary_header("Accept-Encoding")
            if etag := headers.get("etag"):  # strong ones name the same bytes (RFC 9110, 8.8.3)
                headers["etag"] = f"W/{etag}"
            del headers["accept-ranges"]  # parts are those of the file as it is
            self._take(len(body) - len(file.body))
            file = _File(headers.raw, body)
        self._files[path] = file


def _wants_compressed(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "GET" or _MINE not in scope["path"]:
        return False
    headers = Headers(scope=scope)
    asks_for_less = any(name in headers for name in ("range", "if-none-match", "if-modified-since"))
    return "gzip" in headers.get("accept-encoding", "") and not asks_for_less


def _is_kept(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    kind = headers.get("content-type", "")
    return start["status"] == 200 and any(map(kind.__contains__, KEPT)) and "content-encoding" not in headers


# The first page's labels are searched for emoji; compiling the pattern takes 40 ms.
SOON = ("streamlit.emojis",)
LIBRARIES = ("pandas",)
# seconds after the start of the server; until then a visitor who waited for it has seen the first page
IMPORT_AFTER = 3.0
_BETWEEN_LOOKS = 0.1  # seconds between two looks whether a page waits


def _import_later() -> None:
    """Begin beside a server that has just started. Returns at once."""
    Thread(target=_import, args=(SOON,), daemon=True).start()
    timer = Timer(IMPORT_AFTER, _import_libraries)
    timer.daemon = True  # a server that ends does not wait for it
    timer.start()


def _import_libraries() -> None:
    while not runs.TURNS.nobody_waits:
        time.sleep(_BETWEEN_LOOKS)
    # In a separate turn, because a page that is drawn meanwhile would fail: Plotly looks into pandas before
    # pandas is imported whole.
    with runs.TURNS.taken(inf):
        _import(LIBRARIES)


def _import(names: tuple[str, ...]) -> None:
    for name in names:
        import_module(name)


_FIRST_PAGE = "ui.sentence.page"  # the module of the first page


@asynccontextmanager
async def started(app: st.App) -> AsyncIterator[None]:
    """Start the workers, and beside them import the first page's modules: the first visitor waits for
    neither. At the end, stop the workers."""
    from ui.asking import loaders  # its caches want a server that has been made

    send_at_once()
    runs.use_whole_queues()
    with suppress(loaders.EngineError):  # the page asks again, and shows the error
        loaders.engine()
    gc.disable()  # the modules stay: to look among their objects for garbage takes a sixth of their import
    import_module(_FIRST_PAGE)
    gc.freeze()  # nor are they looked through while pages are drawn
    gc.enable()
    _import_later()
    yield
    loaders.engine.clear()


def send_at_once() -> None:
    """Switch off Nagle's algorithm (RFC 896) for all who will connect.

    With it the second half of an answer waits until the browser has acknowledged the first, 40 ms for each of
    the shell's 55 scripts. asyncio switches it off for sockets that it makes itself; Streamlit's is none of
    them (github.com/Kludex/uvicorn/issues/3149). Connections inherit the option from the socket at which they
    arrive.
    """
    for each in _listening():
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _listening() -> Iterator[socket.socket]:
    """The sockets at which this process takes connections over TCP. Streamlit does not hand its own out."""
    for each in gc.get_objects():
        if issubclass(type(each), socket.socket) and each.fileno() >= 0:  # isinstance would wake lazy modules
            is_tcp = each.family in (socket.AF_INET, socket.AF_INET6) and each.type == socket.SOCK_STREAM
            if is_tcp and each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                yield each
