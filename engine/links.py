"""``Link``, ``LaboratoryLink``: connections to worker processes; ``SharedClassrooms``.

* ``Link`` asks one worker and notices its loss.
* ``LaboratoryLink`` leads to a worker that starts when it is first needed and ends after ten minutes without
  a question.
* ``SharedClassrooms`` are the classrooms of several page processes, which live in the first worker.
"""

import logging
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import AuthenticationError, Pipe
from multiprocessing.connection import Client, Connection, wait
from threading import Condition, Lock, Thread, Timer
from typing import Any, Protocol

from classroom.store import AnyClassrooms
from engine.records import (
    CLASSROOMS,
    PREPARE,
    WATCH,
    EngineDiedError,
    EngineError,
    EngineSlowError,
    Message,
    ModelKey,
    Progress,
)

SCHEMES = ("http://", "https://")  # of an engine's address on other machines (``engine/remote.py``)
LOST = (EOFError, OSError)  # raised by a connection whose other side has gone
_PAUSES = (0.0, 0.5, 2.0, 30.0)  # seconds before the first start again, the second, …
# The same for a worker that another process starts: looking for it costs nothing.
LOOKING = (0.0, 0.5, 1.0)
_PATIENT_STARTS = 3  # in a row that may fail; from then on questions get an error at once
_NOTICED = 1.0  # seconds within which the watching thread knows that a worker has gone
_IDLE = 64  # open connections that are kept for the next questions

_logger = logging.getLogger(__name__)


class Endpoint(Protocol):
    """The address of a worker. ``stop`` ends the worker, if this process started it."""

    @property
    def address(self) -> str | tuple[Any, ...]: ...

    @property
    def secret(self) -> bytes: ...

    def stop(self) -> None: ...


class Link:
    """A client's connection to one worker: it starts the worker, watches it and asks it.

    ``start`` begins a worker, or finds one that runs, and is called again whenever it has gone, after the
    ``pauses``. Safe to use from threads.
    """

    def __init__(self, start: Callable[[], Endpoint], pauses: Sequence[float] | None = None):
        self._start, self._pauses = start, pauses or _PAUSES
        self._state = Condition()  # guards all that follows
        self._endpoint: Endpoint | None = None
        self._generation = 0  # how many workers there have been
        self._idle: list[tuple[int, Connection]] = []
        self.problem: EngineDiedError | None = None  # why no worker could be started, several times in a row
        self._is_well = False  # whether the present worker has loaded a model or answered
        self.progress: dict[ModelKey, Progress] = {}
        self.under_way = 0  # how many questions wait for their answer
        # A thread that waits on the first end goes on when the second is closed.
        self._ended, self._end = Pipe(duplex=False)
        self._thread = Thread(target=self._watch, name="engine link", daemon=True)
        self._thread.start()

    @property
    def is_lost(self) -> bool:
        """Whether several starts have failed, and no worker has been started since."""
        return self.problem is not None and self._endpoint is None

    @property
    def endpoint(self) -> Endpoint | None:
        """The present worker; None while it starts."""
        return self._endpoint

    def ask(self, message: Message, deadline: float) -> tuple[Any, int]:
        """The answer and its size in bytes.

        Waits until the worker runs, but not beyond ``deadline``, in ``time.monotonic()``. An error that the
        worker raised is raised here.

        Raises one of LOST if the worker ends meanwhile, EngineSlowError at the deadline, EngineDiedError if
        no worker can be started.
        """
        with self._state:
            self.under_way += 1
        try:
            generation, connection = self._connection(deadline)
            try:
                raw = _exchange(connection, message, deadline)
            except BaseException:
                connection.close()
                raise
            self._keep(generation, connection)
        finally:
            with self._state:
                self.under_way -= 1
        is_answer, answer = pickle.loads(raw)
        if not is_answer:
            raise answer
        if message.kind != PREPARE:  # a worker answers that while it loads a model, which may still end it
            self._has_answered(generation)
        return answer, len(raw)

    def has(self, key: ModelKey) -> bool:
        """Whether the worker has this model in memory."""
        found = self.progress.get(key)
        return found is not None and found.is_ready

    def prepare(self, key: ModelKey) -> None:
        """Have the worker load this model.

        If it has begun to, or is being started, nothing happens; the caller may ask again later.
        """
        before = self.progress
        known = before.get(key)
        if self._endpoint is None or (known is not None and not known.may_be_tried_again):
            return
        with suppress(*LOST, EngineError):
            told, _ = self.ask(Message(key, PREPARE, ()), time.monotonic() + _NOTICED)
            with self._state:
                if self.progress is before:  # else the watching thread knows something newer
                    self.progress = {**before, key: told}

    def wait_for_loss(self) -> None:
        """After one of LOST: wait until it is known that the worker has ended, or that it seems to be running
        still.
        """
        with self._state:
            generation = self._generation
            self._state.wait_for(
                lambda: self._endpoint is None or self._generation != generation, timeout=_NOTICED
            )

    def close(self) -> None:
        """End the worker and everything that belongs to it."""
        self._end.close()
        with self._state:
            endpoint = self._endpoint
        if endpoint is not None:
            endpoint.stop()
        self._thread.join()

    def _connection(self, deadline: float) -> tuple[int, Connection]:
        with self._state:
            self._state.wait_for(
                lambda: self._endpoint or self.problem or self._end.closed, deadline - time.monotonic()
            )
            if self._end.closed:
                raise EngineDiedError("the engine has been closed")
            if self._endpoint is None:
                raise self.problem or EngineSlowError("no worker was ready in time")
            if self._idle:
                return self._idle.pop()
            generation, endpoint = self._generation, self._endpoint
        return generation, Client(endpoint.address, authkey=endpoint.secret)

    def _keep(self, generation: int, connection: Connection) -> None:
        with self._state:
            if generation == self._generation and self._endpoint and len(self._idle) < _IDLE:
                self._idle.append((generation, connection))
                return
        connection.close()

    def _has_answered(self, generation: int) -> None:
        with self._state:
            if generation == self._generation:
                self._is_well, self.problem = True, None

    def _watch(self) -> None:
        failures, told = 0, None
        while not self._end.closed:
            problem = self._watch_one()
            failures = 0 if self._is_well else failures + 1
            if self._end.closed:
                break
            if failures <= _PATIENT_STARTS or problem != told:  # else a line in the log every second
                _logger.warning("a worker of the engine ended: %s", problem)
                told = problem
            if failures >= _PATIENT_STARTS:
                with self._state:
                    self.problem = EngineDiedError(
                        f"{failures} workers ended at their start, the last: {problem}"
                    )
                    self._state.notify_all()
            wait([self._ended], self._pauses[min(failures, len(self._pauses) - 1)])
        self._ended.close()
        with self._state:
            self._state.notify_all()

    def _watch_one(self) -> str:
        """One worker's life; returns how it ended."""
        self._is_well, endpoint = False, None
        try:
            endpoint = self._start()
            with Client(endpoint.address, authkey=endpoint.secret) as connection:
                connection.send(WATCH)
                with self._state:
                    self._endpoint, self._generation = endpoint, self._generation + 1
                    self._state.notify_all()
                # A worker that is not ours goes on, and may have nothing to tell for hours.
                while self._ended not in wait([connection, self._ended]):
                    self._learn(connection.recv())
        except (*LOST, AuthenticationError, EngineDiedError) as error:
            return str(error) or type(error).__name__
        finally:
            self._forget(endpoint)
        return "closed"

    def _learn(self, progress: dict[ModelKey, Progress]) -> None:
        with self._state:
            self.progress = progress
            self._state.notify_all()
            if any(each.is_ready for each in progress.values()):
                self._is_well, self.problem = True, None

    def _forget(self, endpoint: Endpoint | None) -> None:
        with self._state:
            self._endpoint, idle, self._idle = None, self._idle, []
            self.progress = {}
            self._state.notify_all()
        for _, connection in idle:
            connection.close()
        if endpoint is not None:
            endpoint.stop()


def _exchange(connection: Connection, message: Message, deadline: float) -> bytes:
    connection.send(message)
    if not connection.poll(max(0.0, deadline - time.monotonic())):
        raise EngineSlowError("no answer came in time")
    return connection.recv_bytes()


REST = 600.0  # seconds without a question, after which the worker ends: TensorFlow holds a gigabyte


class LaboratoryLink:
    """The link to the worker with TensorFlow. ``begin`` makes it. Safe to use from threads."""

    def __init__(self, begin: Callable[[], Link], rest: float = REST):
        self._begin, self._rest = begin, rest
        self._lock = Lock()  # guards all that follows
        self._link: Link | None = None
        self._users = 0
        self._is_closed = False
        self._timer: Timer | None = None

    @property
    def link(self) -> Link | None:
        """The present link; None without a worker."""
        return self._link

    @contextmanager
    def awake(self) -> Iterator[Link]:
        """The link, which stays as long as it is used.

        Raises EngineDiedError where the engine has been closed.
        """
        with self._lock:
            if self._is_closed:
                raise EngineDiedError("the engine has been closed")
            self._users += 1
            self._stop_timer()
            self._link = link = self._link or self._begin()
        try:
            yield link
        finally:
            with self._lock:
                self._users -= 1
                if not self._users and not self._is_closed:
                    self._timer = Timer(self._rest, self._sleep)
                    self._timer.daemon = True
                    self._timer.start()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._stop_timer()
            link, self._link = self._link, None
        if link is not None:
            link.close()

    def _sleep(self) -> None:
        with self._lock:
            if self._users or self._link is None:
                return
            link, self._link = self._link, None
        link.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


_NO_MODEL = ModelKey("", None, "")
_CALL_SECONDS = 5.0  # for one call


class Asks(Protocol):
    """The interface of links to workers: ``engine.links.Link`` or ``engine.remote.RemoteLink``."""

    def ask(self, message: Message, deadline: float) -> tuple[Any, int]: ...

    def wait_for_loss(self) -> None: ...


class SharedClassrooms(AnyClassrooms):
    """The classrooms behind a link: in the first worker, or in a separate replica in Ray Serve
    (``deploy/serve.py``).

    If that process ends, the classrooms are gone; teachers open new ones. Every call raises EngineError where
    no answer comes.
    """

    def __init__(self, link: Asks):
        self._link = link

    def call(self, *arguments: Any) -> Any:
        """Ask once more where the way broke: a call goes through any replica, and that one may have been
        killed.

        A call that had arrived is then made twice, which does no harm: a second opening or seat is never
        used, and all others are idempotent.
        """
        deadline = time.monotonic() + _CALL_SECONDS
        for _ in range(2):
            try:
                found, _ = self._link.ask(Message(_NO_MODEL, CLASSROOMS, arguments), deadline)
                return found
            except LOST as error:
                lost = error
                self._link.wait_for_loss()
        raise EngineDiedError("the process with the classrooms does not answer") from lost
