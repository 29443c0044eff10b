"""``Engine``: client of the workers with an answer cache; ``EngineCorrector``: one model.

Loads neither TensorFlow nor Keras.

The page's process keeps answers, in one cache for each question, as large as the question declares. If a
worker dies, its question is sent once more, then EngineDiedError is raised. Too many waiting questions
raise EngineBusyError, after PATIENCE seconds EngineSlowError; a long question has LONG_PATIENCE times as
many. Errors are not kept, so the next run of a page asks again. Of several workers the question goes to one
with the model in memory.
"""

import atexit
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cached_property, partial
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Self

from classroom.store import AnyClassrooms, Classrooms
from engine.links import LOOKING, SCHEMES, AnyLink, Link, SharedClassrooms, ask_twice
from engine.question import AnswerCache, P, Question, R
from engine.questions import correct, own_config, trace
from engine.records import (
    LIVE,
    MB,
    MODEL_VARIABLE,
    Message,
    ModelKey,
    Progress,
    freeze,
    unpack,
    version_on_disk,
)
from engine.worker_process import Orders, WorkerProcess, find_worker
from model.correction.correction import Correction
from model.graph.files import only_keras
from model.stored.config import NetworkConfig, TracedConfig
from model.stored.folder import (
    VOCABULARY_FILE,
    ModelFolderError,
    fingerprint,
    load_vocabulary,
    model_name,
    read_config,
    weights_path,
)
from model.text.tokenizer import Tokenizer
from model.trace.trace import AttentionTrace

MODELS_IN_MEMORY = 4  # of each worker
MOST_QUESTIONS = 128  # that may wait for one model in a worker; the next gets EngineBusyError
PATIENCE = 60.0  # seconds for one answer, the start of a worker included
REST = 600.0  # seconds without a question, after which TensorFlow's worker ends: it holds a gigabyte
LONG_PATIENCE = 3  # times as many for a long question: an experiment on a slow machine takes a minute


class Engine:
    """One or several workers behind one interface. Safe to use from threads.

    ``Engine.start`` starts workers that belong to this process, ``Engine.connect`` uses those that run
    elsewhere, and ``Engine.from_environment`` follows the variables ATTENTION_ENGINE, ATTENTION_WORKERS and
    ATTENTION_AHEAD. ``close`` ends everything; the end of the process does, too.

    >>> from contextlib import closing
    >>> from assets import FOLDER
    >>> with closing(Engine.start()) as engine:  # one worker, which ends with the block
    ...     engine.open(FOLDER / "transformer").name
    'transformer'
    """

    def __init__(
        self,
        links: Sequence[AnyLink],
        patience: float = PATIENCE,
        laboratory: Link | None = None,
        shared_classrooms: AnyClassrooms | None = None,
    ):
        """``laboratory`` answers questions that need TensorFlow; without one, ``links`` answer all.
        ``shared_classrooms``: the classrooms of all page processes; by default this one has its own."""
        self._links, self._patience, self._laboratory = list(links), patience, laboratory
        self.classrooms: AnyClassrooms = Classrooms() if shared_classrooms is None else shared_classrooms
        self._caches: dict[str, AnswerCache] = {}
        self._open = AnswerCache(entries=16, room=MB)
        self.ahead = Lock()  # held while a text is corrected in advance
        # Entered around each wait for an answer.
        self.while_waiting: Callable[[], AbstractContextManager[Any]] = nullcontext
        atexit.register(self.close)

    @classmethod
    def start(
        cls,
        models: Sequence[Path | str] = (),
        workers: int = 1,
        models_in_memory: int = MODELS_IN_MEMORY,
        patience: float = PATIENCE,
        ahead: bool = True,
    ) -> "Engine":
        """Start ``workers`` processes, each loading the folders of ``models`` with an ONNX file.

        Returns at once.

        They answer without TensorFlow. Models without an ONNX file need it, as do the activations of
        recurrent ones; they have a separate worker, which starts with the first such question. With ``ahead``
        it prepares the laboratory while it is idle; without it the first questions wait for that.

        A folder that cannot be read is left out; ``open`` raises its error.
        """
        keys: list[ModelKey] = []
        for model in models:
            with suppress(ModelFolderError):
                keys.append(model_key(model))
        light = tuple(key for key in keys if only_keras() or not correct.needs_keras(key))
        orders = Orders(light, max(models_in_memory, len(keys)), MOST_QUESTIONS, ahead)
        links = [Link(partial(WorkerProcess, orders)) for _ in range(workers)]
        if only_keras():
            return cls(links, patience)
        heavy = tuple(key for key in keys if key not in light)
        laboratory = Link(partial(WorkerProcess, orders._replace(models=heavy)), rest=REST)
        return cls(links, patience, laboratory)

    @classmethod
    def connect(cls, place: str | Path, workers: int = 1, patience: float = PATIENCE) -> "Engine":
        """Use an engine that runs already, or will run.

        ``place`` is the folder of ``python -m engine FOLDER`` on this machine, or the address of
        ``deploy/serve.py``, such as http://10.0.0.5:8000.

        ``workers`` says how many workers the folder has; an address decides that itself. Raises ValueError
        for an address without a host.
        """
        if str(place).startswith(SCHEMES):
            from engine.remote import RemoteLink  # imports HTTP and TLS, which few engines need

            links: list[AnyLink] = [RemoteLink(str(place))]
        else:
            links = [Link(partial(find_worker, Path(place), number), LOOKING) for number in range(workers)]
        return cls(links, patience, shared_classrooms=SharedClassrooms(links[0]))

    @classmethod
    def from_environment(cls, models: Sequence[Path | str] = ()) -> "Engine":
        """``connect`` to the folder or address that ATTENTION_ENGINE names, or ``start`` workers if it names
        none. ATTENTION_WORKERS is their number, 1 by default. With ATTENTION_AHEAD=0 started workers
        prepare nothing while they are idle.

        Raises ValueError for a number of workers that is no positive integer, and for an address without a
        host.
        """
        wanted = os.environ.get("ATTENTION_WORKERS") or "1"
        if not wanted.isdecimal() or int(wanted) < 1:
            raise ValueError(f"ATTENTION_WORKERS should be a positive integer, received {wanted!r}")
        if shared := os.environ.get("ATTENTION_ENGINE"):
            return cls.connect(shared, int(wanted))
        return cls.start(models, int(wanted), ahead=works_ahead())

    def open(self, folder: Path | str, snapshot: int | None = None) -> "EngineCorrector":
        """The model in this folder as its files are now; ``snapshot`` as in ``Corrector.load``.

        Loads nothing.

        A str is the "package.module:factory" of a ``model.TracedModel``.

        Raises model.ModelFolderError where the folder's description cannot be read. Damaged weights are
        noticed by the first question.
        """
        if isinstance(folder, str):
            return self._open.get(folder, lambda: (OwnCorrector(self, folder), 1))
        key = (folder, snapshot, version_on_disk(folder))
        return self._open.get(key, lambda: (EngineCorrector(self, folder, snapshot), 1))

    def ask(self, key: ModelKey, question: Question[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        """The answer to a question about a model, kept or from a worker.

        Arrays in answers are read-only. Raises the errors of the model; EngineBusyError, EngineSlowError
        or EngineDiedError without an answer.
        """
        asked = question.positional(arguments, named)
        known = self._cache(question).known((key, asked))
        if known is not None:
            return known
        # The worker is chosen first: reading a folder, a thread that has given up its turn waits for the next
        # one's 5 ms of Python.
        links = self._who_answers(key, question)
        with self.while_waiting():
            message = Message(key, question.name, asked)
            patience = self._patience * (LONG_PATIENCE if question.is_long else 1)
            return self._cache(question).get((key, asked), lambda: self._ask(message, links, patience))

    def known(
        self, key: ModelKey, question: Question[P, R], *arguments: P.args, **named: P.kwargs
    ) -> R | None:
        """The answer that ``ask`` would give from memory; None if it would have to ask. It never waits."""
        return self._cache(question).known((key, question.positional(arguments, named)))

    def _cache(self, question: Question[Any, Any]) -> AnswerCache:
        return self._caches.setdefault(question.name, AnswerCache(*question.kept))

    def progress(self, key: ModelKey) -> Progress:
        """The progress of loading this model, in the worker that is furthest."""
        known = [link.progress.get(key, Progress()) for link in self._who_answers(key, correct)]
        return max(known or [Progress()], key=lambda each: (each.problem is None, each.order))

    def prepare(self, key: ModelKey) -> Progress:
        """Tell the workers to load this model, unless they have; returns at once, with their progress.

        Raises the error that kept the model from being loaded, and EngineDiedError if no worker can be
        started.
        """
        for link in self._who_answers(key, correct):
            link.prepare(key)
        progress = self.progress(key)
        if problem := progress.problem or (self.is_lost and self._links[0].problem):
            raise problem
        return progress

    @property
    def is_lost(self) -> bool:
        """Whether all workers have failed to start several times in a row.

        They are tried again every half minute, workers of other processes every second.
        """
        return all(link.is_lost for link in self._links)

    def close(self) -> None:
        """End the workers and all threads. Questions under way get EngineDiedError."""
        atexit.unregister(self.close)
        for link in self._links:
            link.close()
        if self._laboratory is not None:
            self._laboratory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, message: Message, links: Sequence[AnyLink], patience: float) -> tuple[Any, int]:
        ended = "the worker ended twice while it was asked the same question"
        answer, size = ask_twice(links, message, patience, ended)
        return freeze(answer), size

    def _who_answers(self, key: ModelKey, question: Question[Any, Any]) -> Sequence[AnyLink]:
        """The workers for this question about this model."""
        if self._laboratory is None or not question.needs_keras(key):
            return self._links
        return [self._laboratory]


class EngineCorrector:
    """One model of the engine, as pages ask it: an ``Asked``. ``Engine.open`` makes it.

    Name, fingerprint, config and tokenizer are read from the folder and known at once. Everything else asks
    the engine, and waits while the model is loaded. ``Engine.ask`` describes the errors.

    >>> from contextlib import closing
    >>> from assets import FOLDER
    >>> from engine.client import Engine
    >>> with closing(Engine.start()) as engine:
    ...     engine.open(FOLDER / "transformer").config.num_heads  # read from the folder
    4
    """

    def __init__(self, engine: Engine, folder: Path, snapshot: int | None = None):
        self.name, self._engine = model_name(folder), engine
        self._config = read_config(folder)
        self.tokenizer: Tokenizer = load_vocabulary(folder / VOCABULARY_FILE)
        self.key = model_key(folder, snapshot)
        self.fingerprint = self.key.fingerprint

    @property
    def config(self) -> NetworkConfig | TracedConfig:
        """The network's config. For a ``model.TracedModel`` it holds only the abilities of such a network."""
        return self._config

    @property
    def progress(self) -> Progress:
        """The progress of loading the model."""
        return self._engine.progress(self.key)

    def prepare(self) -> Progress:
        """Have the model loaded. Raises the error that kept it from being loaded; see ``Engine.prepare``."""
        return self._engine.prepare(self.key)

    @property
    def minimum_confidence(self) -> float:
        """Changes whose confidence is below it are left undone."""
        return self.config.minimum_confidence

    def ask(self, question: Question[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        """The answer to a question of ``engine.questions`` about this model."""
        return self._engine.ask(self.key, question, *arguments, **named)

    def known(self, question: Question[P, R], *arguments: P.args, **named: P.kwargs) -> R | None:
        """The answer of ``ask`` if it is kept; None where it would have to ask."""
        return self._engine.known(self.key, question, *arguments, **named)

    def correct(self, text: str, words: tuple[str, ...] = ()) -> Correction:
        """Correct one text. The traces of its sentences came along with the answer, as far as
        ``packing.TRACE_BYTES`` allow; the others are fetched when they are read. ``words`` are left alone:
        those of ``Corrector.with_words``."""
        return unpack(self.ask(correct, *_asked(text, words)), self.trace)

    def correct_ahead(self, text: str, words: tuple[str, ...] = ()) -> None:
        """Start to correct a text that may come soon, and return at once.

        Does nothing while another one is under way. Errors are ignored here; the same question raises them
        later.
        """
        ahead = self._engine.ahead
        if not ahead.acquire(blocking=False):
            return

        def ask() -> None:
            try:
                with suppress(Exception):
                    self.ask(correct, *_asked(text, words))
            finally:
                ahead.release()

        Thread(target=ask, daemon=True).start()

    def trace(self, source: str, target: str) -> AttentionTrace:
        """The pass that turns one sentence into ``target``.

        Raises ValueError for a source that is longer than the network can read.
        """
        return self.ask(trace, source, target)


def _asked(text: str, words: tuple[str, ...]) -> tuple[Any, ...]:
    """The arguments of ``questions.correct``, which are part of the key of a kept answer."""
    return (text, words) if words else (text,)


class OwnCorrector(EngineCorrector):
    """A ``model.TracedModel``, by its "package.module:factory".

    It has no ``tokenizer``; its worker knows the config.
    """

    def __init__(self, engine: Engine, name: str):
        self.name, self._engine = name, engine
        self.key = model_key(name)
        self.fingerprint = self.key.fingerprint

    def correct_ahead(self, text: str, words: tuple[str, ...] = ()) -> None:
        """Does nothing: such a model may take long for a text, and the text that counts would wait for it."""

    @cached_property
    def config(self) -> TracedConfig:
        return self.ask(own_config)


def model_key(folder: Path | str, snapshot: int | None = None) -> ModelKey:
    """The key of a folder with its present files, or of a "package.module:factory", given as a str."""
    if isinstance(folder, str):
        return ModelKey(folder, None, LIVE)
    found = fingerprint(folder, weights_path(folder, snapshot))
    return ModelKey(str(folder.absolute()), snapshot, found)


def works_ahead() -> bool:
    """Whether workers that are started here use idle time to prepare: unless ATTENTION_AHEAD is 0."""
    return os.environ.get("ATTENTION_AHEAD") != "0"


def own_model() -> str | None:
    """The model that ATTENTION_MODEL names, "package.module:factory"; None where it names none.

    >>> own_model() is None  # the variable ATTENTION_MODEL is not set
    True
    """
    return os.environ.get(MODEL_VARIABLE, "").strip() or None
