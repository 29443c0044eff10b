"""Worker process: a model cache, and a server that answers the questions about each model.

``engine.links`` starts it. It reads one line of JSON with its orders, writes one line with its address, and
then answers connections of ``multiprocessing.connection``: a pickled message over a Unix socket, one at a
time on each connection. It ends when its standard input is closed. The operating system closes that when the
starting process ends, even if it is killed, so no worker is left behind.

A replica of ``deploy/serve.py`` is a ``ModelCache``, too. Typed text is held in memory only; none of it is
printed or written to a file.
"""

import gc
import json
import logging
import os
import pickle
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from itertools import chain
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener, answer_challenge, deliver_challenge
from pathlib import Path
from threading import Condition, Lock, Thread
from typing import Any

from classroom.store import Classrooms
from engine import questions as _questions  # noqa: F401  they declare themselves
from engine.own_model import TracedCorrector, TracedNetwork, load
from engine.question import QUESTIONS, Question
from engine.records import (
    CLASSROOMS,
    LIVE,
    PREPARE,
    WATCH,
    EngineBusyError,
    EngineError,
    Message,
    ModelChangedError,
    ModelKey,
    Progress,
    library_error,
)
from model.analysis.nulls import nulls
from model.analysis.residual_stream import ATTRIBUTION_TAPS, LENS_TAPS
from model.correction.answers import Answers
from model.correction.corrector import Corrector
from model.graph.files import can_answer
from model.stored.config import INSIDE
from model.stored.folder import ModelFolderError

# Threads that answer: a single sentence keeps only one core busy. One more thread is for the laboratory
# alone.
THREADS = 2


class QuestionQueue:
    """The queue of questions about one loaded model, the ``corrector``, and the threads that answer them.

    At most ``limit`` questions wait, and as many for the laboratory; one more raises EngineBusyError.
    THREADS threads answer, and one the laboratory's. ``ask`` may be called from threads.
    """

    def __init__(self, corrector: Answers, limit: int):
        self.corrector, self._limit = corrector, limit
        self.is_warmed = False  # whether its laboratory is being prepared; see ``ModelCache``
        # Both by ``Question.is_long``: the threads, and how many questions none of them has begun to answer.
        self._threads = {False: ThreadPoolExecutor(THREADS), True: ThreadPoolExecutor(1)}
        self._waiting = {False: 0, True: 0}
        self._under_way = 0  # questions that are being answered
        self._last_busy = time.monotonic()
        self._closed = False
        self._changed = Condition()  # guards all of the above

    def ask(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        """The answer; waits for it. An error of the model is raised here.

        Raises EngineError for an unknown kind of question.
        """
        if kind not in QUESTIONS:
            raise EngineError(f"a question should be one of {sorted(QUESTIONS)}, received {kind!r}")
        question = QUESTIONS[kind]
        with self._changed:
            alike = self._waiting[question.is_long]
            if alike >= self._limit:
                raise EngineBusyError(f"{alike} questions are waiting, {self._limit} may wait")
            self._waiting[question.is_long] += 1
            answer = self._threads[question.is_long].submit(self._answer, question, arguments)
            self._changed.notify_all()
        return answer.result()

    def wait_until_idle(self, seconds: float) -> bool:
        """Return once so many seconds passed without a question; False where the queue has been closed."""
        with self._changed:
            while not self._closed:
                busy = any(self._waiting.values()) or self._under_way
                rest = self._last_busy + seconds - time.monotonic()
                if not busy and rest <= 0:
                    return True
                self._changed.wait(None if busy else rest)
            return False

    def close(self) -> None:
        """Have nothing prepared any more: the model leaves the memory when the last question has its answer,
        and the threads end with it.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _answer(self, question: Question[Any, Any], arguments: tuple[Any, ...]) -> Any:
        with self._changed:
            self._waiting[question.is_long] -= 1
            self._under_way += 1
            self._changed.notify_all()
        try:
            return question(self.corrector, *arguments)
        except ModuleNotFoundError as error:
            raise library_error(error) from None
        finally:
            with self._changed:
                self._under_way -= 1
                self._last_busy = time.monotonic()
                self._changed.notify_all()


AGAIN = 10.0  # seconds after a load that failed, before it is tried again: each try takes a core and memory
IDLE = 2.0  # seconds without a question, after which the worker prepares the laboratory
DONE = object()


class ModelCache:
    """The models that a worker has in memory, by their key.

    At most ``room`` of them; the least recently used goes first.

    Each model loads in a separate thread, one after the other. With ``ahead`` the worker prepares the
    laboratory while it is idle, after its first question. Safe to call from threads.
    """

    def __init__(self, room: int, questions: int, ahead: bool = True):
        self._room, self._questions, self._ahead = room, questions, ahead
        self._queues: OrderedDict[ModelKey, Future[QuestionQueue]] = OrderedDict()
        # When (monotonic), and the load.
        self._failed: dict[ModelKey, tuple[float, Future[QuestionQueue]]] = {}
        self._progress: dict[ModelKey, Progress] = {}
        self._changed = Condition()
        self._one_at_a_time = Lock()

    def ask(self, key: ModelKey, kind: str, arguments: tuple[Any, ...]) -> Any:
        """The answer to one question; see ``QuestionQueue.ask`` and ``queue`` for the errors."""
        queue = self.queue(key)
        answer = queue.ask(kind, arguments)
        if self._ahead and QUESTIONS[kind].needs and QUESTIONS[kind].needs_keras(key):
            self._begin_warming(queue)
        return answer

    def queue(self, key: ModelKey) -> QuestionQueue:
        """The queue of this model; waits while the model is loaded.

        Raises model.ModelFolderError if the folder is missing or damaged, and ModelChangedError if its files
        are not those of the key.
        """
        return self.prepare(key).result()

    def prepare(self, key: ModelKey) -> Future[QuestionQueue]:
        """Begin to load this model, unless that has begun or failed within the last AGAIN seconds; does not
        wait.
        """
        with self._changed:
            self._failed = {
                each: kept for each, kept in self._failed.items() if kept[0] > time.monotonic() - AGAIN
            }
            if key in self._failed:
                return self._failed[key][1]
            found = self._queues.get(key)
            if found is None:
                found = self._queues[key] = Future()
                self._progress.pop(key, None)  # of an earlier try
                self._report(key)
                Thread(target=self._load, args=(key, found), daemon=True).start()
            self._queues.move_to_end(key)
        return found

    def begin(self, key: ModelKey) -> Progress:
        """``prepare``, and the model's progress now."""
        with self._changed:
            self.prepare(key)
            return self._progress[key]

    def progress(self, known: dict[ModelKey, Progress] | None, seconds: float) -> dict[ModelKey, Progress]:
        """How far each model is, as soon as that differs from ``known``, or after so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._progress != known, seconds)
            return dict(self._progress)

    def _load(self, key: ModelKey, found: Future[Any]) -> None:
        try:
            with self._one_at_a_time:
                gc.disable()  # all that is made here stays
                corrector = _open(key, lambda stage: self._report(key, stage=stage))
                self._report(key, stage="first_run")
                corrector.warm_up()
        except Exception as raised:  # noqa: BLE001  raised in the asking thread
            error = library_error(raised)
            is_ours = isinstance(error, (ModelFolderError, EngineError))
            with self._changed:
                self._report(key, problem=error if is_ours else EngineError(repr(error)))
                del self._queues[key]
                self._failed[key] = time.monotonic(), found
            found.set_exception(error)
            return
        finally:
            gc.enable()
        queue = QuestionQueue(corrector, self._questions)
        found.set_result(queue)
        self._report(key, stage="ready")
        self._make_room()
        # It holds Python's lock for most of a second, and with it the first page's example.
        if queue.wait_until_idle(IDLE):
            corrector.warm_up_doubts()

    def _begin_warming(self, queue: QuestionQueue) -> None:
        """Prepare the laboratory, once for each model, after its first question that needs Keras."""
        corrector = queue.corrector
        with self._changed:
            first, queue.is_warmed = not queue.is_warmed, True
        if first and isinstance(corrector, Corrector) and INSIDE in corrector.config.abilities:
            Thread(target=self._warm_laboratory, args=(corrector, queue), daemon=True).start()

    def _warm_laboratory(self, corrector: Corrector, queue: QuestionQueue) -> None:
        """Read the residual stream once, and compute the losses that claims are compared with: one at a
        time, while the worker is idle and no model is being loaded.
        """
        reading = (corrector.taps("", "", names) for names in (ATTRIBUTION_TAPS, LENS_TAPS))
        warming = chain(reading, nulls(corrector))
        while queue.wait_until_idle(IDLE):
            with self._one_at_a_time:
                if next(warming, DONE) is DONE:
                    return

    def _make_room(self) -> None:
        with self._changed:
            loaded = [key for key, queue in self._queues.items() if queue.done()]
            old = loaded[: max(0, len(loaded) - self._room)]
            for key in old:
                self._progress.pop(key, None)
                self._queues.pop(key).result().close()
            self._changed.notify_all()
        gc.collect()  # no name here holds a model any more

    def _report(self, key: ModelKey, **news: Any) -> None:
        """Change the progress of this model, unless it has left the memory."""
        with self._changed:
            if key in self._queues:
                self._progress[key] = replace(self._progress.get(key, Progress()), **news)
                self._changed.notify_all()


def _open(key: ModelKey, reached: Callable[[str], None]) -> Corrector | TracedCorrector | TracedNetwork:
    reached("library")
    if key.fingerprint == LIVE:
        return load(key.path)
    import_module("model.graph.network" if can_answer(Path(key.path)) else "model.network.keras_network")
    reached("weights")
    corrector = Corrector.load(key.path, snapshot=key.snapshot)
    if corrector.fingerprint != key.fingerprint:
        raise ModelChangedError(f"{key.path} holds {corrector.fingerprint} now, asked for {key.fingerprint}")
    return corrector


LOOK_AGAIN = 2.0  # seconds after which a watcher that has gone is noticed
_ROOMS = Classrooms()  # of the page processes that share this worker


def main() -> None:
    sys.path.append(os.getcwd())  # the place of a user's own model
    orders = json.loads(sys.stdin.readline())
    address = orders["address"]
    # JSON has no tuples.
    listener = Listener(address if isinstance(address, str) else tuple(address), backlog=128)
    secret = bytes.fromhex(orders["secret"])
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # TensorFlow warns of functions that are traced for several models in turn, which is intended here.
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    models = ModelCache(orders["models_in_memory"], orders["questions"], orders["ahead"])
    Thread(target=_accept, args=(listener, secret, models), daemon=True).start()
    with suppress(BrokenPipeError):  # the starting process has gone meanwhile
        print(json.dumps(listener.address), flush=True)
    os.dup2(2, 1)  # the line was all; whatever a library prints from here on goes to standard error
    for key in orders["models"]:
        models.prepare(ModelKey(*key))
    sys.stdin.read()
    if isinstance(listener.address, str) and os.path.exists(listener.address):
        os.unlink(listener.address)
        with suppress(OSError):  # the folder of workers that are shared holds more
            os.rmdir(os.path.dirname(listener.address))
    # At once: Python would wait for threads, or end them inside TensorFlow, which then aborts the process.
    os._exit(0)


def _accept(listener: Listener, secret: bytes, models: ModelCache) -> None:
    while True:
        try:
            connection = listener.accept()
        except OSError:  # gone already
            continue
        Thread(target=_serve, args=(connection, secret, models), daemon=True).start()


def _serve(connection: Connection, secret: bytes, models: ModelCache) -> None:
    with connection:
        try:
            # Not in ``accept``: there a silent connection would hold up all others.
            deliver_challenge(connection, secret)
            answer_challenge(connection, secret)
            while (message := connection.recv()) != WATCH:
                connection.send_bytes(_answer(message, models))
            _tell(connection, models)
        except (AuthenticationError, EOFError, OSError):  # without the secret, or gone
            return


def _answer(message: Message, models: ModelCache) -> bytes:
    """Pickled (True, the answer) or (False, the exception)."""
    try:
        key, kind, arguments = message
        if kind == PREPARE:
            return pickle.dumps((True, models.begin(key)))
        if kind == CLASSROOMS:
            return pickle.dumps((True, _ROOMS.call(*arguments)))
        return pickle.dumps((True, models.ask(key, kind, arguments)), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001  raised in the asking process
        try:
            pickle.loads(answer := pickle.dumps((False, error)))
        except Exception:  # noqa: BLE001  some exceptions cannot travel
            answer = pickle.dumps((False, EngineError(f"{type(error).__name__} in the worker")))
        return answer


def _tell(connection: Connection, models: ModelCache) -> None:
    known = None
    while not connection.poll():  # a watcher says nothing more, so this is its end
        progress = models.progress(known, LOOK_AGAIN)
        if progress != known:
            connection.send(progress)
            known = progress


if __name__ == "__main__":
    main()
