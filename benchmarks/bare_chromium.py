"""A headless Chromium that is spoken to by its DevTools protocol, without the inspector that Playwright switches on in each page.

While that inspector is on (``Runtime.enable``), V8 notes where in the source each error of a page was thrown. Plotly throws some, and catches
them, while it is read; of so large a script that takes 0.17 s of a first visit, which no visitor waits for.
"""

import json
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

from websockets.sync.client import ClientConnection, connect

ANSWER = 120  # seconds
# A new window of Chromium loads pages of its own, among them the list below the address bar. Half a second of processor time, which
# a page that is opened at once has to share; who enters an address has had the window before.
AT_REST = 4  # seconds


class BarePage:
    """A tab of a private window, 1366 by 768."""

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
        """The value of an expression of JavaScript, which may be a promise."""
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
            if answer.get("id") == self._number:  # what else comes are events
                break
        assert "error" not in answer, answer
        return answer["result"]


@contextmanager
def bare_page(chromium: str) -> Iterator[BarePage]:
    """A page of a browser that has cached nothing, and has nothing left to do. ``chromium``: the path of the program."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ["--headless", "--no-sandbox", "--no-first-run", "--lang=ko-KR", "--accept-lang=ko-KR"]
        places = [f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank"]
        process = subprocess.Popen([chromium, *options, *places], stderr=subprocess.PIPE, text=True)
        try:
            lines = process.stderr
            assert lines is not None
            found = next(filter(None, (re.search(r"listening on (ws://\S+)", line) for line in lines)))
            Thread(
                target=lines.read, daemon=True
            ).start()  # else the browser waits for somebody who reads what it says
            with connect(found[1], max_size=None) as socket:
                page = BarePage(socket)
                time.sleep(AT_REST)
                yield page
        finally:
            process.terminate()
            process.wait()
