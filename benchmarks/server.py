"""Processes of a benchmark: the app's server, a headless Chromium, an engine in isolation.

Example:
    >>> with socket.socket() as listener:
    ...     listener.bind(("127.0.0.1", free_port()))
"""

import json
import multiprocessing
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, Self

from websockets.sync.client import ClientConnection, connect

ROOT = Path(__file__).parents[1]
START = 180  # seconds that a server may take until its first answer
ANSWER = 120  # seconds that Chromium may take for one command
# A new window of Chromium loads its own pages, among them the list below the address bar: half a second of
# processor time. A visitor who enters an address has had the window before.
AT_REST = 4  # seconds
REST = 0.3  # seconds; idle threads of OpenMP keep a core busy for up to 0.2 s after their work
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def free_port() -> int:
    """A port of this machine that no process listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running(*command: str, **settings: Any) -> Iterator[subprocess.Popen]:
    """A process in the repository's folder that ends with the block; ``settings`` are those of
    ``subprocess.Popen``.
    """
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, **settings)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:  # on busy cores Streamlit may need longer to end
            process.kill()
            process.wait()


def wait_for_server(port: int, process: subprocess.Popen, pause: float = 0.05) -> None:
    """Return once the server at ``port`` answers, which ``process`` is.

    Raises:
        RuntimeError: where the process has ended.
        OSError: after ``START`` seconds without an answer.
    """
    ends = time.monotonic() + START
    while True:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended at once with status {process.returncode}")
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5).close()
            return
        except OSError:
            if time.monotonic() > ends:
                raise
            time.sleep(pause)


@contextmanager
def running_page(port: int, **environment: str) -> Iterator[subprocess.Popen]:
    """A page process of the app at ``port``, with these further variables. It may not answer yet.

    Python keeps its bytecode there, as on a machine where the app is installed: else each start compiles
    hundreds of modules.
    """
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.address", "127.0.0.1"]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    options = ("--server.port", str(port), "--server.headless", "true")
    with running(*command, *options, env=kept | environment, **QUIET) as process:
        yield process


@contextmanager
def running_app() -> Iterator[str]:
    """The address of the app, whose server answers for as long as the block runs.

    Raises:
        RuntimeError, OSError: as ``wait_for_server``.
    """
    port = free_port()
    with running_page(port) as process:
        wait_for_server(port, process)
        yield f"http://127.0.0.1:{port}/"


def wait_until_idle(share: float = 0.9, seconds: float = 3.0, patience: float = 300.0) -> None:
    """Return once the processors have been idle for ``share`` of some ``seconds``.

    Raises:
        TimeoutError: on a machine with other work, after ``patience`` seconds.
    """
    until = time.monotonic() + patience
    while time.monotonic() < until:
        before = _processor_times()
        time.sleep(seconds)
        spent = [now - then for now, then in zip(_processor_times(), before, strict=True)]
        if spent[3] > share * sum(spent):
            return
    raise TimeoutError("the processors have other work")


def _processor_times() -> list[int]:
    """User, nice, system, idle and further times of all processors, as proc(5) counts them."""
    line = Path("/proc/stat").read_text("ascii").splitlines()[0]
    return [int(part) for part in line.split()[1:]]


class BarePage:
    """A tab of a private window, 1366 by 768 pixels, controlled by Chromium's DevTools protocol alone.

    Playwright switches an inspector on in each page (``Runtime.enable``), and V8 then records where each
    error was thrown. Plotly throws and catches some while it is read; of so large a script that takes 0.17 s
    of a first visit, which no visitor waits for.
    """

    def __init__(self, socket: ClientConnection):
        self._socket, self._number, self._session = socket, 0, None
        context = self._send("Target.createBrowserContext")["browserContextId"]
        wanted = {"url": "about:blank", "width": 1366, "height": 768, "browserContextId": context}
        target = self._send("Target.createTarget", **wanted)["targetId"]
        self._session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def goto(self, address: str) -> None:
        """Enter an address; returns when its page has begun."""
        self._send("Page.navigate", url=address)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript, which may be a promise.

        Raises AssertionError for an exception there.
        """
        found = self._send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"])
        return found["result"].get("value")

    def _send(self, method: str, **params: Any) -> dict:
        self._number += 1
        to = {"sessionId": self._session} if self._session else {}
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params, **to}))
        while True:
            answer = json.loads(self._socket.recv(timeout=ANSWER))
            if answer.get("id") == self._number:  # anything else is an event
                break
        assert "error" not in answer, answer
        return answer["result"]


@contextmanager
def bare_page(chromium: str) -> Iterator[BarePage]:
    """A page of a browser that has cached nothing and is at rest. ``chromium``: the path of the program."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ["--headless", "--no-sandbox", "--no-first-run", "--lang=ko-KR", "--accept-lang=ko-KR"]
        places = [f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank"]
        with running(chromium, *options, *places, stderr=subprocess.PIPE, text=True) as process:
            lines = process.stderr
            assert lines is not None
            found = next(filter(None, (re.search(r"listening on (ws://\S+)", line) for line in lines)))
            Thread(target=lines.read, daemon=True).start()  # a full pipe would stop the browser
            with connect(found[1], max_size=None) as socket:
                page = BarePage(socket)
                time.sleep(AT_REST)
                yield page


class Worker:
    """An object made by ``make(*args)`` in a separate process, so that no library's threads or settings
    reach another's.

    Use as a context manager. The constructor returns when the object is made: nothing else shall run
    meanwhile.
    """

    def __init__(self, make: Callable, *args: Any):
        context = multiprocessing.get_context("spawn")
        self._process = ProcessPoolExecutor(1, context, _make, (make, args))
        self._process.submit(time.sleep, 0).result()

    def call(self, method: str, *args: Any) -> Any:
        """The result of the object's ``method``, after ``REST`` seconds without work."""
        time.sleep(REST)
        return self._process.submit(_call, method, args).result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.shutdown()


_made: Any = None  # in the process of a worker


def _make(make: Callable, args: tuple) -> None:
    global _made
    _made = make(*args)


def _call(method: str, args: tuple) -> Any:
    return getattr(_made, method)(*args)
