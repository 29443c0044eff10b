"""``Shelf``: the models that a worker has in memory. A replica of ``deploy/serve.py`` is a ``Shelf``, too.

A worker makes the graphs of the laboratory, one at a time, after the laboratory was first asked and while nobody asks for two
seconds. Until then the laboratory's first calls are computed without a graph (``model.network.passes.LateGraphs``), because
making one takes as long as five to ten calls.
"""

import gc
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from threading import Condition, Lock, Thread
from typing import Any

from engine.desk import Desk, DeskClosedError
from engine.errors import EngineError, ModelChangedError, told
from engine.progress import Progress
from engine.questions import QUESTIONS
from engine.routing import needs_keras
from engine.traced import TracedCorrector, TracedNetwork, load
from engine.versions import LIVE, ModelKey
from model.analysis import residual_stream
from model.correction.corrector import Corrector
from model.graph.files import can_answer
from model.stored.config import INSIDE
from model.stored.folder import ModelFolderError

AGAIN = 10.0  # seconds after a load that failed, before it is tried again: each try takes a core and memory
IDLE = 2.0  # seconds without a question, after which the worker does something of its own
DONE = object()


class Shelf:
    """The models that a worker has in memory, by their key. At most ``room`` of them; the one asked longest ago goes first.

    Each model loads in a thread of its own, one after the other. With ``ahead`` the laboratory's graphs are made while
    nobody asks, once it has been asked something. Safe to call from threads.
    """

    def __init__(self, room: int, questions: int, ahead: bool = True):
        self._room, self._questions, self._ahead = room, questions, ahead
        self._desks: OrderedDict[ModelKey, Future[Desk]] = OrderedDict()
        self._failed: dict[ModelKey, tuple[float, Future[Desk]]] = {}  # when (monotonic), and the load
        self._progress: dict[ModelKey, Progress] = {}
        self._changed = Condition()
        self._one_at_a_time = Lock()

    def ask(self, key: ModelKey, kind: str, arguments: tuple) -> Any:
        """The answer to one question; see ``Desk.ask`` and ``desk`` for what is raised."""
        while True:
            desk = self.desk(key)
            try:
                answer = desk.ask(kind, arguments)
            # Other models were asked for meanwhile, and this one had to leave the memory.
            except DeskClosedError:
                continue
            if self._ahead and QUESTIONS[kind].needs and needs_keras(key, kind, arguments):
                self._begin_warming(desk)
            return answer

    def desk(self, key: ModelKey) -> Desk:
        """The desk of this model; waits while the model is loaded.

        Raises model.ModelFolderError if the folder is missing or damaged, and ModelChangedError if its files are not those of
        the key.
        """
        return self.prepare(key).result()

    def prepare(self, key: ModelKey) -> Future[Desk]:
        """Begin to load this model, unless that has begun or failed within the last AGAIN seconds; does not wait."""
        with self._changed:
            self._failed = {
                each: kept for each, kept in self._failed.items() if kept[0] > time.monotonic() - AGAIN
            }
            if key in self._failed:
                return self._failed[key][1]
            found = self._desks.get(key)
            if found is None:
                found = self._desks[key] = Future()
                self._progress.pop(key, None)  # of an earlier try
                self._report(key)
                Thread(target=self._load, args=(key, found), daemon=True).start()
            self._desks.move_to_end(key)
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

    def _load(self, key: ModelKey, found: Future) -> None:
        try:
            with self._one_at_a_time:
                corrector = _open(key, lambda stage: self._report(key, stage=stage))
                self._report(key, stage="first_run")
                corrector.warm_up()
        except Exception as raised:  # noqa: BLE001  whoever asked gets it
            error = told(raised)
            is_ours = isinstance(error, (ModelFolderError, EngineError))
            with self._changed:
                self._report(key, problem=error if is_ours else EngineError(repr(error)))
                del self._desks[key]
                self._failed[key] = time.monotonic(), found
            found.set_exception(error)
            return
        desk = Desk(corrector, self._questions)
        found.set_result(desk)
        self._report(key, stage="ready")
        self._make_room()
        # It holds Python's lock for most of a second, and with it the first page's example.
        if desk.wait_until_idle(IDLE):
            corrector.warm_up_doubts()

    def _begin_warming(self, desk: Desk) -> None:
        """Make the laboratory's graphs ahead, once for each model, since somebody is interested in it."""
        corrector = desk.corrector
        with self._changed:
            first, desk.is_warmed = not desk.is_warmed, True
        if first and isinstance(corrector, Corrector) and INSIDE in corrector.config.abilities:
            Thread(target=self._warm_laboratory, args=(corrector, desk), daemon=True).start()

    def _warm_laboratory(self, corrector: Corrector, desk: Desk) -> None:
        """Make the graphs of the views that read the residual stream, and the laboratory's, one at a time, while nobody asks
        anything and no model is being loaded."""
        reading = (
            corrector.taps("", "", names)
            for names in (residual_stream.ATTRIBUTION_TAPS, residual_stream.LENS_TAPS)
        )
        laboratory = corrector.laboratory.warm_up()  # its first step has all graphs made at their next call
        warming = chain(islice(laboratory, 1), reading, laboratory)
        while desk.wait_until_idle(IDLE):
            with self._one_at_a_time:
                if next(warming, DONE) is DONE:
                    return

    def _make_room(self) -> None:
        with self._changed:
            loaded = [key for key, desk in self._desks.items() if desk.done()]
            old = loaded[: max(0, len(loaded) - self._room)]
            desks = [self._desks.pop(key).result() for key in old]
            for key in old:
                self._progress.pop(key, None)
            self._changed.notify_all()
        for desk in desks:
            desk.close()
        del desks
        gc.collect()

    def _report(self, key: ModelKey, **news: Any) -> None:
        """Change the progress of this model, unless it has left the memory."""
        with self._changed:
            if key in self._desks:
                self._progress[key] = replace(self._progress.get(key, Progress()), **news)
                self._changed.notify_all()


def _open(key: ModelKey, reached: Callable[[str], None]) -> Corrector | TracedCorrector | TracedNetwork:
    reached("library")
    if key.fingerprint == LIVE:
        return load(key.path)
    import_module("model.graph.network" if can_answer(Path(key.path)) else "model.network.compiled")
    reached("weights")
    corrector = Corrector.load(key.path, snapshot=key.snapshot)
    if corrector.fingerprint != key.fingerprint:
        raise ModelChangedError(f"{key.path} holds {corrector.fingerprint} now, asked for {key.fingerprint}")
    return corrector
