"""``Engine``: the engine as a page sees it. Nothing here, and nothing it imports, loads TensorFlow or Keras.

The page's process keeps the answers, in one cache for each kind of question (``KEPT``, ``OTHER``). A key consists of the model's
fingerprint, the kind of question and its arguments. If a worker dies, its question is asked once more, then EngineDiedError is
raised. With too many waiting questions there is EngineBusyError, after PATIENCE seconds EngineSlowError. Errors are not kept, so the
next run of a page asks again. With several workers a question goes to one that has the model in memory.
"""

import atexit
import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cached_property, partial
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Self

import numpy as np

from engine.answers import PackedCorrection, freeze, unpack
from engine.cache import AnswerCache
from engine.errors import EngineDiedError
from engine.laboratory import Laboratory
from engine.link import LOST, Link
from engine.process import Orders, WorkerProcess
from engine.progress import Progress
from engine.questions import CORRECT, MB, QUESTIONS
from engine.remote import SCHEMES, RemoteLink
from engine.shared import find_worker
from engine.traced import VARIABLE, TracedConfig
from engine.versions import LIVE, ModelKey, version_on_disk
from model.correction.correction import Correction
from model.graph.files import can_answer, only_keras
from model.stored.config import NetworkConfig
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
from model.trace.output_weights import OutputWeights
from model.trace.projections import Projections
from model.trace.trace import AttentionTrace

IN_KERAS = frozenset(name for name, question in QUESTIONS.items() if question.in_keras)
MODELS_IN_MEMORY = 4  # of each worker
MOST_QUESTIONS = 128  # that may wait for one model in a worker; one more is told that the server is busy
PATIENCE = 60.0  # seconds for one answer, the start of a worker included


class Engine:
    """One or several workers behind one interface. Safe to use from threads.

    ``Engine.start`` starts workers of this process, ``Engine.connect`` uses those that run elsewhere, and
    ``Engine.from_environment`` does what the variables ATTENTION_ENGINE, ATTENTION_WORKERS and ATTENTION_AHEAD say.
    ``close`` ends everything; the end of the process does, too.

    >>> from contextlib import closing
    >>> from assets import FOLDER
    >>> with closing(Engine.start()) as engine:  # one worker, which ends with the block
    ...     engine.open(FOLDER / "transformer").name
    'transformer'
    """

    def __init__(
        self,
        links: Sequence[Link | RemoteLink],
        patience: float = PATIENCE,
        laboratory: Laboratory | None = None,
    ):
        """``laboratory`` is asked what needs TensorFlow; without one, ``links`` are asked everything."""
        self._links, self._patience, self._laboratory = list(links), patience, laboratory
        self._caches: dict[str, AnswerCache] = {}
        self._open = AnswerCache(entries=16, room=MB)
        self._ahead = Lock()  # held while a question is asked ahead
        self.while_waiting: Callable[[], AbstractContextManager] = (
            nullcontext  # around each wait for an answer
        )
        atexit.register(self.close)

    @classmethod
    def start(
        cls,
        models: Sequence[Path | str] = (),
        workers: int = 1,
        models_in_memory: int = MODELS_IN_MEMORY,
        questions: int = MOST_QUESTIONS,
        patience: float = PATIENCE,
        ahead: bool = True,
    ) -> "Engine":
        """Start ``workers`` processes, each of which loads the folders ``models``. Returns at once.

        They answer without TensorFlow. What needs it, the laboratory and models without a graph, has a worker of its own,
        which starts when first asked. With ``ahead`` that one makes graphs while nobody asks, for a minute of a core, and
        later questions are answered twice as fast; without, the first question of each sort waits for its own.

        A folder that cannot be read is left out; ``open`` says what is wrong with it.
        """
        keys = tuple(_readable(models))
        light = tuple(key for key in keys if only_keras() or _is_light(key, CORRECT))
        orders = Orders(light, max(models_in_memory, len(keys)), questions, ahead)
        links = [Link(partial(WorkerProcess, orders)) for _ in range(workers)]
        if only_keras():
            return cls(links, patience)
        heavy = tuple(key for key in keys if key not in light)
        return cls(
            links, patience, Laboratory(lambda: Link(partial(WorkerProcess, orders._replace(models=heavy))))
        )

    @classmethod
    def connect(cls, place: str | Path, workers: int = 1, patience: float = PATIENCE) -> "Engine":
        """Use an engine that runs already, or will run. ``place`` is the folder of ``python -m engine FOLDER`` on this machine, or
        the address of ``deploy/serve.py``, such as http://10.0.0.5:8000.

        ``workers`` says how many workers the folder has; an address decides that itself. Raises ValueError for an address
        without a host.
        """
        if str(place).startswith(SCHEMES):
            return cls([RemoteLink(str(place))], patience)
        return cls([Link(partial(find_worker, Path(place), i)) for i in range(workers)], patience)

    @classmethod
    def from_environment(cls, models: Sequence[Path | str] = ()) -> "Engine":
        """``connect`` to the folder or address that ATTENTION_ENGINE names, or ``start`` workers if it names none. ATTENTION_WORKERS
        says how many there are, 1 by default. With ATTENTION_AHEAD=0 started workers compile nothing while nobody asks.

        Raises ValueError for a number of workers that is no positive integer, and for an address without a host.
        """
        wanted = os.environ.get("ATTENTION_WORKERS") or "1"
        if not wanted.isdecimal() or int(wanted) < 1:
            raise ValueError(f"ATTENTION_WORKERS should be a positive integer, received {wanted!r}")
        if shared := os.environ.get("ATTENTION_ENGINE"):
            return cls.connect(shared, int(wanted))
        return cls.start(models, int(wanted), ahead=works_ahead())

    def open(self, folder: Path | str, snapshot: int | None = None) -> "EngineCorrector":
        """The model in this folder as its files are now; ``snapshot`` as in ``Corrector.load``. Loads nothing.

        A str is the "package.module:factory" of a ``model.TracedModel``.

        Raises model.ModelFolderError where the folder's description cannot be read. Damaged weights are
        noticed by the first question.
        """
        if isinstance(folder, str):
            return self._open.get(folder, lambda: (OwnCorrector(self, folder), 1))
        key = (folder, snapshot, version_on_disk(folder))
        return self._open.get(key, lambda: (EngineCorrector(self, folder, snapshot), 1))

    def ask(self, key: ModelKey, kind: str, *arguments: Hashable) -> Any:
        """The answer to one of ``engine.questions.QUESTIONS``, from memory where it was asked lately.

        Arrays in answers are read-only. Raises what the model raises; EngineBusyError, EngineSlowError
        or EngineDiedError where there is no answer.
        """
        known = self.known(key, kind, *arguments)
        if known is not None:
            return known
        with self.while_waiting():
            return self._cache(kind).get((key, arguments), lambda: self._ask((key, kind, arguments)))

    def ask_ahead(self, key: ModelKey, kind: str, *arguments: Hashable) -> None:
        """Start to ask what somebody may ask soon, and return at once. Does nothing while another such question is being asked.
        Errors are ignored here; whoever asks the same question later and waits for the answer gets them.
        """
        if not self._ahead.acquire(blocking=False):
            return

        def ask() -> None:
            try:
                with suppress(Exception):
                    self.ask(key, kind, *arguments)
            finally:
                self._ahead.release()

        Thread(target=ask, daemon=True).start()

    def known(self, key: ModelKey, kind: str, *arguments: Hashable) -> Any | None:
        """The answer that ``ask`` would give from memory; None if it would have to ask. It never waits."""
        return self._cache(kind).known((key, arguments))

    def _cache(self, kind: str) -> AnswerCache:
        asked = QUESTIONS.get(kind, QUESTIONS[CORRECT])  # the worker refuses a kind that is none
        return self._caches.setdefault(kind, AnswerCache(*asked.kept))

    def progress(self, key: ModelKey) -> Progress:
        """How far the worker is that has got furthest with this model."""
        links = self._links
        if self._laboratory is not None and not _is_light(key, CORRECT):
            links = [self._laboratory.link] if self._laboratory.link else []
        known = [link.progress.get(key, Progress()) for link in links]
        return max(known or [Progress()], key=lambda each: (each.problem is None, each.order))

    def prepare(self, key: ModelKey) -> Progress:
        """Have the workers load this model, unless they have; returns at once how far they are.

        Raises the error that kept the model from being loaded, and EngineDiedError if no worker can be started.
        """
        with self._who_answers(key, CORRECT) as links:
            for link in links:
                link.prepare(key)
        progress = self.progress(key)
        if problem := progress.problem or (self.is_lost and self._links[0].problem):
            raise problem
        return progress

    @property
    def is_lost(self) -> bool:
        """Whether several starts of a worker in a row have failed. It is still tried every half minute."""
        return all(link.is_lost for link in self._links)

    def forget(self) -> None:
        """Drop all answers; the models stay."""
        for cache in list(self._caches.values()):
            cache.clear()

    def close(self) -> None:
        """End the workers and all threads. Questions under way get EngineDiedError."""
        atexit.unregister(self.close)
        for link in self._links:
            link.close()
        if self._laboratory is not None:
            self._laboratory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _ask(self, question: tuple) -> tuple[Any, int]:
        key, deadline = question[0], time.monotonic() + self._patience
        with self._who_answers(key, question[1]) as links:
            for _ in range(2):  # a question whose worker died is asked once more
                link = min(links, key=lambda link: (link.is_lost, not link.has(key), link.under_way))
                try:
                    answer, size = link.ask(question, deadline)
                    return freeze(answer), size
                except LOST:
                    link.wait_for_loss()
        raise EngineDiedError("the worker ended twice while it was asked the same question")

    @contextmanager
    def _who_answers(self, key: ModelKey, kind: str) -> Iterator[Sequence[Link | RemoteLink]]:
        """The workers that are asked this sort of question about this model."""
        if self._laboratory is None or _is_light(key, kind):
            yield self._links
        else:
            with self._laboratory.awake() as link:
                yield [link]


class EngineCorrector:
    """One model of the engine; answers as ``model.Corrector`` does. ``Engine.open`` makes it.

    Name, fingerprint, config and tokenizer are read from the folder and known at once. Everything else asks the engine, and
    waits while the model is loaded; ``progress`` tells how far that is. ``Engine.ask`` describes the errors.

    >>> from contextlib import closing
    >>> from assets import FOLDER
    >>> with closing(Engine.start()) as engine:
    ...     engine.open(FOLDER / "transformer").config.num_heads  # known at once, from the folder's description
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
        """The network's config. For a ``model.TracedModel`` it says only what such a network can do."""
        return self._config

    @property
    def progress(self) -> Progress:
        return self._engine.progress(self.key)

    def prepare(self) -> Progress:
        """Have the model loaded; see ``Engine.prepare``."""
        return self._engine.prepare(self.key)

    @property
    def minimum_confidence(self) -> float:
        """Changes whose confidence is below it are left undone."""
        return self.config.minimum_confidence

    @property
    def num_parameters(self) -> int:
        return self.ask("num_parameters")

    def ask(self, kind: str, *arguments: Hashable) -> Any:
        """The answer to any of ``engine.questions.QUESTIONS`` about this model."""
        return self._engine.ask(self.key, kind, *arguments)

    def known(self, kind: str, *arguments: Hashable) -> Any | None:
        """What ``ask`` would return from memory; None where it would have to ask."""
        return self._engine.known(self.key, kind, *arguments)

    def correct(self, text: str) -> Correction:
        """Correct one text. The traces of its sentences came along with the answer, as far as
        ``answers.TRACE_BYTES`` allow; the others are asked for when they are wanted."""
        packed: PackedCorrection = self.ask(CORRECT, text)
        return unpack(packed, self.trace)

    def correct_ahead(self, text: str) -> None:
        """Have ``text`` corrected because it may be asked for soon; see ``Engine.ask_ahead``."""
        self._engine.ask_ahead(self.key, CORRECT, text)

    def trace(self, source: str, target: str) -> AttentionTrace:
        """What the network looks at while it turns one sentence into ``target``.

        Raises ValueError for a source that is longer than the network can read.
        """
        return self.ask("trace", source, target)

    def projections(self, source: str, target: str, padding: int = 0) -> dict[str, Projections]:
        """Of each kind of attention what its weights are computed from; see ``Corrector.projections``."""
        return self.ask("projections", source, target, padding)

    def taps(
        self, source: str, target: str, names: Iterable[str], off: Iterable[tuple] = ()
    ) -> dict[str, np.ndarray]:
        """What the pass hands out under ``names``, without the heads that are ``off``; see ``Corrector.taps``."""
        return self.ask("taps", source, target, tuple(names), tuple(map(tuple, off)))

    def embeddings(self, text: str) -> np.ndarray:
        """(S, D) float32, a row for each character and the end mark, not yet scaled."""
        return self.ask("embeddings", text)

    def output_weights(self) -> OutputWeights:
        """What the decoder writes with; see ``Corrector.output_weights``. It travels once."""
        return self.ask("output_weights")

    def weight_sizes(self) -> dict[str, int]:
        """How many parameters each of the network's arrays has, by its path."""
        return self.ask("weight_sizes")


class OwnCorrector(EngineCorrector):
    """A ``model.TracedModel``, by its "package.module:factory". Only the worker knows what else it can do."""

    def __init__(self, engine: Engine, name: str):
        self.name, self._engine = name, engine
        self.key = model_key(name)
        self.fingerprint = self.key.fingerprint

    def correct_ahead(self, text: str) -> None:
        """Does nothing: such a model may take long for a text, and the text that counts would wait for it."""

    @cached_property
    def config(self) -> TracedConfig:
        return TracedConfig(self.ask("abilities"), self.ask("described"))


def works_ahead() -> bool:
    """Whether workers that are started here make graphs while nobody asks: unless ATTENTION_AHEAD is 0."""
    return os.environ.get("ATTENTION_AHEAD") != "0"


def own_model() -> str | None:
    """The model that ATTENTION_MODEL names, "package.module:factory"; None where it names none.

    >>> own_model() is None  # the variable ATTENTION_MODEL is not set
    True
    """
    return os.environ.get(VARIABLE, "").strip() or None


def _is_light(key: ModelKey, kind: str) -> bool:
    """Whether the workers that load no TensorFlow of ours are asked this sort of question about a model. A ``model.TracedModel``
    brings its own library."""
    return key.fingerprint == LIVE or (kind not in IN_KERAS and can_answer(Path(key.path)))


def _readable(folders: Iterable[Path | str]) -> Iterator[ModelKey]:
    for folder in folders:
        with suppress(ModelFolderError):
            yield model_key(folder)


def model_key(folder: Path | str, snapshot: int | None = None) -> ModelKey:
    """The key of a folder with its present files, or of a "package.module:factory", which is given as a str."""
    if isinstance(folder, str):
        return ModelKey(folder, None, LIVE)
    found = fingerprint(folder, weights_path(folder, snapshot))
    return ModelKey(str(folder.absolute()), snapshot, found)
