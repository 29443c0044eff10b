"""What the server does before its first visitor comes: ``app.py`` hands ``started`` to Streamlit, which enters it before it answers."""

import gc
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module

import streamlit as st

from ui.shell import spare_time

_FIRST_PAGE = "ui.look.look"  # imports what the first page is made of


@asynccontextmanager
async def started(app: st.App) -> AsyncIterator[None]:
    """Start the workers, and beside them import the first page's modules: the first visitor waits for neither. At the end, stop the workers."""
    from ui.asking import loaders  # its caches want a server that has been made

    send_at_once()
    with suppress(loaders.EngineError):  # the page asks again, and shows what is wrong
        loaders.engine()
    import_module(_FIRST_PAGE)
    spare_time.begin()
    yield
    loaders.engine.clear()


def send_at_once() -> None:
    """Switch off Nagle's algorithm (RFC 896) for all who will connect.

    With it the second half of an answer waits until the browser has acknowledged the first, 40 ms for each of the shell's 55 scripts.
    asyncio switches it off for sockets that it makes itself; Streamlit's is none of them (github.com/Kludex/uvicorn/issues/3149).
    Connections inherit the option from the socket at which they arrive.
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
