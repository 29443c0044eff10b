"""Connections to one worker process, whose loss is noticed, and to the classrooms in it.

``SharedClassrooms`` are the classrooms of several page processes, which live in the first worker.
"""

import logging
import math
import pickle
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import AuthenticationError, Pipe
from multiprocessing.connection import Client, Connection, wait
from threading import Condition, Thread
from typing import Any

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
from engine.worker_process import SharedWorker, WorkerProcess

SCHEMES = ("http://", "https://")  # of an engine's address on other machines (``engine/remote.py``)
LOST = (EOFError, OSError)  # raised by a connection whose other side has gone
_PAUSES = (0.0, 0.5, 2.0, 30.0)  # seconds before the first start again, the second, …
# The same for a worker that another process starts: looking for it costs nothing.
LOOKING = (0.0, 0.5, 1.0)
_PATIENT_STARTS = 3  # in a row that may fail; from then on questions get an error at once
_NOTICED = 1.0  # seconds within which the watching thread knows that a worker has gone
_IDLE = 64  # open connections that are kept for the next questions

_logger = logging.getLogger(__name__)

Endpoint = WorkerProcess | SharedWorker


class AnyLink(ABC):
    """A client's connection to workers: ``Link``, or ``engine.remote.RemoteLink``.

    Safe to use from threads.
    """

    def __init__(self) -> None:
        self._state = Condition()  # guards all that follows
        self.under_way = 0  # how many questions wait for their answer
        self._used = -math.inf  # when the last one was asked or answered, in ``time.monotonic()``
        self.progress: dict[ModelKey, Progress] = {}
        self.problem: EngineDiedError | None = None  # why questions get no answer

    @property
    @abstractmethod
    def is_lost(self) -> bool:
        """Whether no worker answers at present."""

    @abstractmethod
    def prepare(self, key: ModelKey) -> None:
        """Have a worker load this model, unless it has begun to."""

    @abstractmethod
    def wait_for_loss(self) -> None:
        """After one of LOST: wait until another worker may answer, a second at most."""

    @abstractmethod
    def close(self) -> None:
        """End everything that belongs to this process."""

    @abstractmethod
    def _ask(self, message: Message, deadline: float) -> tuple[Any, int]: ...

    def ask(self, message: Message, deadline: float) -> tuple[Any, int]:
        """The answer and its size in bytes. An error that the worker raised is raised here.

        Raises one of LOST if the worker ends meanwhile, EngineSlowError at the ``deadline``, in
        ``time.monotonic()``, EngineBusyError if too many questions wait, EngineDiedError if no worker can be
        started.
        """
        self._use(1)
        try:
            return self._ask(message, deadline)
        finally:
            self._use(-1)

    def has(self, key: ModelKey) -> bool:
        """Whether a worker has reported this model as loaded."""
        found = self.progress.get(key)
        return found is not None and found.is_ready

    def _use(self, more: int) -> None:
        """Count a question that begins or ends; a worker is needed from now on."""
        with self._state:
            self.under_way += more
            self._used = time.monotonic()
            self._state.notify_all()


def ask_twice(links: Sequence[AnyLink], message: Message, patience: float, ended: str) -> tuple[Any, int]:
    """The answer of one of ``links``, and its size in bytes. If a worker dies, another one is asked.

    Raises EngineDiedError, with the words ``ended``, if that one dies, too; and the errors of ``Link.ask``
    after ``patience`` seconds, and of the question.
    """
    deadline = time.monotonic() + patience
    for _ in range(2):
        link = min(links, key=lambda link: (link.is_lost, not link.has(message.key), link.under_way))
        try:
            return link.ask(message, deadline)
        except LOST as error:
            lost = error
            link.wait_for_loss()
    raise EngineDiedError(ended) from lost


class Link(AnyLink):
    """A client's connection to one worker: it starts the worker, watches it and asks it.

    ``start`` begins a worker, or finds one that runs, and is called again whenever it has gone, after the
    ``pauses``. With a ``rest`` it begins with the first question, and ends after so many seconds without one.
    ``problem`` says why no worker could be started, several times in a row.
    """

    def __init__(
        self,
        start: Callable[[], Endpoint],
        pauses: Sequence[float] | None = None,
        rest: float | None = None,
    ):
        super().__init__()
        self._start, self._pauses, self._rest = start, pauses or _PAUSES, rest
        self.endpoint: Endpoint | None = None  # the present worker; None while it starts
        self._idle: list[Connection] = []  # to the present worker
        self._is_well = False  # whether the present worker has loaded a model or answered
        # A thread that waits on the first end goes on when the second is closed.
        self._ended, self._end = Pipe(duplex=False)
        self._thread = Thread(target=self._watch, name="engine link", daemon=True)
        self._thread.start()

    @property
    def is_lost(self) -> bool:
        """Whether several starts have failed, and no worker has been started since."""
        return self.problem is not None and self.endpoint is None

    def _ask(self, message: Message, deadline: float) -> tuple[Any, int]:
        endpoint, connection = self._connection(deadline)
        try:
            connection.send(message)
            if not connection.poll(max(0.0, deadline - time.monotonic())):
                raise EngineSlowError("no answer came in time")
            raw = connection.recv_bytes()
            is_answer, answer = pickle.loads(raw)
        except BaseException:
            connection.close()
            raise
        # A worker answers PREPARE while it loads a model, which may still end it.
        self._keep(endpoint, connection, is_well=is_answer and message.kind != PREPARE)
        if not is_answer:
            raise answer
        return answer, len(raw)

    def prepare(self, key: ModelKey) -> None:
        """Have the worker load this model.

        If it has begun to, or is being started, nothing happens; the caller may ask again later.
        """
        self._use(0)
        before = self.progress
        known = before.get(key)
        if self.endpoint is None or (known is not None and not known.may_be_tried_again):
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
            lost = self.endpoint
            self._state.wait_for(lambda: lost is None or self.endpoint is not lost, timeout=_NOTICED)

    def close(self) -> None:
        """End the worker and everything that belongs to it."""
        self._end.close()
        with self._state:
            endpoint = self.endpoint
            self._state.notify_all()
        if endpoint is not None:
            endpoint.stop()
        self._thread.join()

    def _is_needed(self) -> bool:
        return self.under_way > 0 or self._rest is None or time.monotonic() < self._used + self._rest

    def _connection(self, deadline: float) -> tuple[Endpoint, Connection]:
        with self._state:
            self._state.wait_for(
                lambda: self.endpoint or self.problem or self._end.closed, deadline - time.monotonic()
            )
            if self._end.closed:
                raise EngineDiedError("the engine has been closed")
            if self.endpoint is None:
                raise self.problem or EngineSlowError("no worker was ready in time")
            endpoint = self.endpoint
            if self._idle:
                return endpoint, self._idle.pop()
        return endpoint, Client(endpoint.address, authkey=endpoint.secret)

    def _keep(self, endpoint: Endpoint | None, connection: Connection, is_well: bool) -> None:
        """Keep a connection for the next question, unless its worker has gone."""
        with self._state:
            if endpoint is self.endpoint:
                if is_well:
                    self._is_well, self.problem = True, None
                if len(self._idle) < _IDLE:
                    self._idle.append(connection)
                    return
        connection.close()

    def _watch(self) -> None:
        failures, told = 0, None
        while True:
            with self._state:
                if not self._is_needed():  # of starts before the rest; the next question waits for new ones
                    self.problem, failures = None, 0
                self._state.wait_for(lambda: self._end.closed or self._is_needed())
            if self._end.closed:
                break
            problem = self._watch_one()
            failures = 0 if self._is_well else failures + 1
            if problem is None or self._end.closed:
                continue
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

    def _watch_one(self) -> str | None:
        """One worker's life; returns how it ended, None where it was not needed any more."""
        self._is_well, endpoint = False, None
        try:
            endpoint = self._start()
            with Client(endpoint.address, authkey=endpoint.secret) as connection:
                connection.send(WATCH)
                with self._state:
                    self.endpoint = endpoint
                    self._state.notify_all()
                # A worker that is not ours goes on, and may have nothing to tell for hours.
                glance = None if self._rest is None else self._rest / 100
                while self._ended not in (ready := wait([connection, self._ended], glance)):
                    if ready:
                        self._learn(connection.recv())
                    elif self._is_released():
                        break
        except (*LOST, AuthenticationError, EngineDiedError) as error:
            return str(error) or type(error).__name__
        finally:
            self._forget(endpoint)
        return None

    def _is_released(self) -> bool:
        """Whether the worker is not needed any more; questions from now on wait for the next one."""
        with self._state:
            if not self._is_needed():
                self.endpoint, self._is_well, self.problem = None, True, None
            return self.endpoint is None

    def _learn(self, progress: dict[ModelKey, Progress]) -> None:
        with self._state:
            self.progress = progress
            self._state.notify_all()
            if any(each.is_ready for each in progress.values()):
                self._is_well, self.problem = True, None

    def _forget(self, endpoint: Endpoint | None) -> None:
        with self._state:
            self.endpoint, idle, self._idle = None, self._idle, []
            self.progress = {}
            self._state.notify_all()
        for connection in idle:
            connection.close()
        if endpoint is not None:
            endpoint.stop()


_NO_MODEL = ModelKey("", None, "")
_CALL_SECONDS = 5.0  # for one call


class SharedClassrooms(AnyClassrooms):
    """The classrooms behind a link: in the first worker, or in a separate replica in Ray Serve
    (``deploy/serve.py``).

    If that process ends, the classrooms are gone; teachers open new ones. Every call raises EngineError where
    no answer comes.
    """

    def __init__(self, link: AnyLink):
        self._link = link

    def call(self, *arguments: Any) -> Any:
        """Ask once more where the way broke: a call goes through any replica, and that one may have been
        killed.

        A call that had arrived is then made twice, which does no harm: a second opening or seat is never
        used, and all others are idempotent.
        """
        message, ended = (
            Message(_NO_MODEL, CLASSROOMS, arguments),
            "the process with the classrooms does not answer",
        )
        found, _ = ask_twice([self._link], message, _CALL_SECONDS, ended)
        return found
