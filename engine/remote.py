"""``RemoteLink``: the connection to an engine on other machines (``deploy/serve.py``), over HTTP."""

import time
from collections import deque
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from engine import wire
from engine.errors import EngineBusyError, EngineDiedError, EngineError, EngineSlowError
from engine.link import SCHEMES
from engine.progress import PREPARE, Progress
from engine.versions import ModelKey, Question

REFUSED = 422  # the status of an error that ``wire.write_error`` wrote
_BUSY = 503  # Ray Serve's own status, if more questions wait than its queue takes
_MOST_BYTES = 256 * 2**20  # the largest answer that is read
_NOTICED = 1.0  # seconds that a page waits to hear how far a model is, and between two tries
_IDLE = 64  # open connections that are kept for the next questions


class RemoteLink:
    """Asks ``address`` as ``engine.link.Link`` asks a worker. It starts and ends nothing there.

    Safe to use from threads. Raises ValueError for text that is not an address.
    """

    def __init__(self, address: str):
        parts = urlsplit(address)
        if not address.startswith(SCHEMES) or not parts.hostname:
            raise ValueError(f"an engine's address should begin with one of {SCHEMES}, received {address!r}")
        self._make = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._address, self._path = parts.netloc.rpartition("@")[2], parts.path or "/"
        self._idle: deque[HTTPConnection] = deque(maxlen=_IDLE)
        self._counting = Lock()
        self.under_way = 0  # how many questions wait for their answer
        self.progress: dict[ModelKey, Progress] = {}
        self.problem: EngineDiedError | None = None  # why the last question got no answer

    @property
    def is_lost(self) -> bool:
        """Whether the last question got no answer."""
        return self.problem is not None

    def has(self, key: ModelKey) -> bool:
        """Whether the engine has said that it has this model in memory."""
        found = self.progress.get(key)
        return found is not None and found.is_ready

    def prepare(self, key: ModelKey) -> None:
        """Have the model loaded, and learn how far it is; waits for a second at most."""
        if self.has(key):
            return
        try:
            told, _ = self.ask((key, PREPARE, ()), time.monotonic() + _NOTICED)
        except (EngineBusyError, EngineSlowError):  # a replica is being started
            told = self.progress.get(key, Progress())
        except OSError:  # ``problem`` says it
            return
        except Exception as error:  # noqa: BLE001  raised later, for whoever asks about this model
            told = Progress(problem=error)
        self.progress = {**self.progress, key: told}

    def ask(self, question: Question, deadline: float) -> tuple[Any, int]:
        """The answer and its size in bytes. What the engine raised is raised here.

        Raises OSError where the connection breaks or the engine fails, EngineSlowError at the deadline, as
        ``time.monotonic()``, EngineBusyError where too many questions wait.
        """
        with self._counting:
            self.under_way += 1
        try:
            status, data = self._exchange(wire.write_question(*question), deadline)
            if status not in (200, REFUSED, _BUSY):  # such as 500, where a replica was killed
                raise ConnectionError(f"the engine answered with status {status}")
        except OSError:
            self._lose()
            raise
        finally:
            with self._counting:
                self.under_way -= 1
        self.problem = None
        if status == REFUSED:
            raise wire.read_error(data)
        if status == _BUSY:
            raise EngineBusyError("the engine's queue is full")
        return wire.read_answer(data), len(data)

    def wait_for_loss(self) -> None:
        """Wait between a question without an answer and its second try. Another replica takes over meanwhile."""
        time.sleep(_NOTICED)

    def close(self) -> None:
        """Close the connections. The engine goes on for others."""
        with suppress(IndexError):  # none is left; other threads take some, too
            while True:
                self._idle.pop().close()

    def _lose(self) -> None:
        self.close()
        self.progress = {}
        self.problem = EngineDiedError(f"no engine answers at {self._address}")

    def _exchange(self, body: bytes, deadline: float) -> tuple[int, bytes]:
        with suppress(IndexError, ConnectionError):  # the other side closes what was idle for long
            return self._send(self._idle.pop(), body, deadline)
        return self._send(self._make(self._address), body, deadline)

    def _send(self, connection: HTTPConnection, body: bytes, deadline: float) -> tuple[int, bytes]:
        rest = deadline - time.monotonic()
        if rest <= 0:
            raise EngineSlowError("no answer came in time")
        try:
            connection.timeout = rest
            if connection.sock is not None:
                connection.sock.settimeout(rest)
            connection.request("POST", self._path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            data = response.read(_MOST_BYTES + 1)
        except TimeoutError as error:
            connection.close()
            raise EngineSlowError("no answer came in time") from error
        except HTTPException as error:
            connection.close()
            raise ConnectionError("the engine broke off its answer") from error
        except OSError:
            connection.close()
            raise
        if len(data) > _MOST_BYTES:
            connection.close()
            raise EngineError(f"an answer may have at most {_MOST_BYTES:,} bytes, received more")
        self._idle.append(connection)
        return response.status, data
