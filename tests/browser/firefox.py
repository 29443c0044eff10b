"""Headless Firefox for tests, driven by WebDriver BiDi, the W3C's protocol.

Firefox speaks it by itself; Playwright drives only its own build.
"""

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import which
from threading import Timer
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.browser.missing import missing

START = 60  # seconds
NOWHERE = {"network.proxy.type": 1, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": 9}
QUIET = {"browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False}


def find_firefox() -> str:
    """$FIREFOX, or the system's. Without any, tests fail on CI."""
    path = os.environ.get("FIREFOX") or which("firefox-esr") or which("firefox")
    if path:
        return path
    return missing("no Firefox: set FIREFOX to its path, or install it (Debian: apt-get install firefox-esr)")


class Page:
    """One tab."""

    def __init__(self, socket: ClientConnection):
        self._socket, self._number = socket, 0
        self.capabilities = self._send("session.new", {"capabilities": {}})["capabilities"]
        self._context = self._send("browsingContext.getTree", {})["contexts"][0]["context"]

    def goto(self, address: str) -> None:
        wanted = {"context": self._context, "url": address, "wait": "complete"}
        self._send("browsingContext.navigate", wanted)

    def evaluate(self, expression: str, context: str | None = None) -> Any:
        """The value of an expression of JavaScript, which may be a promise. ``context``: None for the tab."""
        wanted = {
            "expression": f"(async () => JSON.stringify(await ({expression}) ?? null))()",
            "target": {"context": context or self._context},
            "awaitPromise": True,
        }
        found = self._send("script.evaluate", wanted)
        if found["type"] == "exception":
            raise AssertionError(found["exceptionDetails"]["text"])
        return json.loads(found["result"]["value"])

    def wait_for(self, expression: str, seconds: float = 60) -> None:
        """Until an expression holds. Raises AssertionError where it does not in time."""
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            assert time.monotonic() < end, f"still not true after {seconds} s: {expression}"
            time.sleep(0.05)

    def press(self, text: str) -> None:
        """Press a key for each character, where the focus is."""
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        actions = [{"type": "key", "id": "keyboard", "actions": keys}]
        self._send("input.performActions", {"context": self._context, "actions": actions})

    def install(self, extension: Path) -> None:
        """Add an extension from its folder, until the browser ends."""
        self._send("webExtension.install", {"extensionData": {"type": "path", "path": str(extension)}})

    def evaluate_in_window(self, expression: str) -> Any:
        """The value of an expression in the browser's own window, around the tabs."""
        tree = self._send("browsingContext.getTree", {"moz:scope": "chrome"})
        return self.evaluate(expression, tree["contexts"][0]["context"])

    def _send(self, method: str, params: dict) -> dict:
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv(timeout=120))
            if answer.get("id") == self._number:  # other messages are events
                break
        assert answer["type"] == "success", answer
        return answer["result"]


@contextmanager
def firefox(profile: Path, *, reaches_nothing: bool = False) -> Iterator[Page]:
    """A page of a browser with its own profile.

    ``reaches_nothing``: all its requests go to an address without a server.
    """
    profile.mkdir(parents=True, exist_ok=True)
    settings = QUIET | (NOWHERE if reaches_nothing else {})
    lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in settings.items())
    (profile / "user.js").write_text("\n".join(lines) + "\n")
    command = [
        find_firefox(),
        "--headless",
        "--no-remote",
        "--profile",
        str(profile),
        "--remote-debugging-port",
        "0",
        "--remote-allow-system-access",  # to an extension's pages, and to its button
    ]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "HOME": str(profile)}
    )
    try:
        with connect(f"{_address(process)}/session", max_size=None) as socket:
            yield Page(socket)
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()


def _address(process: subprocess.Popen) -> str:
    """Where the browser says that it listens."""
    timer = Timer(START, process.kill)
    timer.start()
    said = []
    for line in process.stderr:
        said.append(line)
        if found := re.search(r"WebDriver BiDi listening on (ws://\S+)", line):
            timer.cancel()
            return found[1]
    raise AssertionError(f"Firefox did not say where it listens: {''.join(said)}")
