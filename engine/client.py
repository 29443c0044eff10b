"""``Engine``: the engine as a page sees it. Nothing here, and nothing it imports, loads TensorFlow or Keras.

The page's process keeps answers, in one cache for each kind of question, as large as the question declares (``EngineQuestion.kept``). A
key consists of the model's fingerprint, the kind of question and its arguments. If a worker dies, its question is asked once more, then
EngineDiedError is raised. With too many waiting questions there is EngineBusyError, after PATIENCE seconds EngineSlowError. Errors are
not kept, so the next run of a page asks again. With several workers a question goes to one that has the model in memory.
"""

import atexit
import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Self

from classroom import AnyClassrooms, Classrooms
from engine import classrooms
from engine.answers import freeze
from engine.asked import EngineCorrector, OwnCorrector, model_key
from engine.cache import AnswerCache
from engine.errors import EngineDiedError
from engine.laboratory import LaboratoryLink
from engine.link import LOOKING, LOST, SCHEMES, Link
from engine.process import Orders, WorkerProcess
from engine.progress import Progress
from engine.questions import CORRECT, MB, QUESTIONS
from engine.routing import needs_keras
from engine.shared import find_worker
from engine.traced import VARIABLE
from engine.versions import ModelKey, Question, version_on_disk
from model.graph.files import only_keras
from model.stored.folder import ModelFolderError

if TYPE_CHECKING:
    from engine.remote import RemoteLink

MODELS_IN_MEMORY = 4  # of each worker
MOST_QUESTIONS = 128  # that may wait for one model in a worker; the next gets EngineBusyError
PATIENCE = 60.0  # seconds for one answer, the start of a worker included


class Engine:
    """One or several workers behind one interface. Safe to use from threads.

    ``Engine.start`` starts workers that belong to this process, ``Engine.connect`` uses those that run elsewhere, and
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
        links: "Sequence[Link | RemoteLink]",
        patience: float = PATIENCE,
        laboratory: LaboratoryLink | None = None,
        shared_classrooms: AnyClassrooms | None = None,
    ):
        """``laboratory`` is asked what needs TensorFlow; without one, ``links`` are asked everything.
        ``shared_classrooms``: the classrooms of all page processes; by default this one has its own."""
        self._links, self._patience, self._laboratory = list(links), patience, laboratory
        self.classrooms: AnyClassrooms = Classrooms() if shared_classrooms is None else shared_classrooms
        self._caches: dict[str, AnswerCache] = {}
        self._open = AnswerCache(entries=16, room=MB)
        self._ahead = Lock()  # held while a question is asked ahead
        # Entered around each wait for an answer.
        self.while_waiting: Callable[[], AbstractContextManager] = nullcontext
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
        """Start ``workers`` processes, each of which loads those folders of ``models`` that have a graph. Returns at once.

        They answer without TensorFlow. Gradients and models without a graph need it; they have a worker of their own, which starts when
        first asked. With ``ahead`` that worker makes graphs of TensorFlow while nobody asks. This takes a minute of one core, and later
        questions are answered twice as fast. Without it the first question of each sort waits for its graph.

        A folder that cannot be read is left out; ``open`` says what is wrong with it.
        """
        keys = tuple(_readable(models))
        light = tuple(key for key in keys if only_keras() or not needs_keras(key, CORRECT))
        orders = Orders(light, max(models_in_memory, len(keys)), questions, ahead)
        links = [Link(partial(WorkerProcess, orders)) for _ in range(workers)]
        if only_keras():
            return cls(links, patience)
        heavy = tuple(key for key in keys if key not in light)
        return cls(
            links,
            patience,
            LaboratoryLink(lambda: Link(partial(WorkerProcess, orders._replace(models=heavy)))),
        )

    @classmethod
    def connect(cls, place: str | Path, workers: int = 1, patience: float = PATIENCE) -> "Engine":
        """Use an engine that runs already, or will run. ``place`` is the folder of ``python -m engine FOLDER`` on this machine, or
        the address of ``deploy/serve.py``, such as http://10.0.0.5:8000.

        ``workers`` says how many workers the folder has; an address decides that itself. Raises ValueError for an address
        without a host.
        """
        if str(place).startswith(SCHEMES):
            from engine.remote import RemoteLink  # imports HTTP and TLS, which few engines need

            links: list[Link | RemoteLink] = [RemoteLink(str(place))]
        else:
            links = [Link(partial(find_worker, Path(place), number), LOOKING) for number in range(workers)]
        return cls(links, patience, shared_classrooms=classrooms.shared(links[0]))

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

    def open(self, folder: Path | str, snapshot: int | None = None) -> EngineCorrector:
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
        # Who answers is found out first: reading a folder, a thread that has given up its turn waits for the next one's 5 ms of Python.
        question = (key, kind, arguments)
        with self._who_answers(*question) as links, self.while_waiting():
            return self._cache(kind).get((key, arguments), lambda: self._ask(question, links))

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
        asked = QUESTIONS.get(kind, QUESTIONS[CORRECT])  # an unknown kind is refused by the worker
        return self._caches.setdefault(kind, AnswerCache(*asked.kept))

    def progress(self, key: ModelKey) -> Progress:
        """How far loading this model is, in the worker that is furthest."""
        links = self._links
        if self._laboratory is not None and needs_keras(key, CORRECT):
            links = [self._laboratory.link] if self._laboratory.link else []
        known = [link.progress.get(key, Progress()) for link in links]
        return max(known or [Progress()], key=lambda each: (each.problem is None, each.order))

    def prepare(self, key: ModelKey) -> Progress:
        """Tell the workers to load this model, unless they have; returns at once, with how far they are.

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
        """Whether all workers have failed to start several times in a row. They are still tried every half minute, or looked for every
        second."""
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

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, question: Question, links: "Sequence[Link | RemoteLink]") -> tuple[Any, int]:
        key, deadline = question[0], time.monotonic() + self._patience
        for _ in range(2):  # a question whose worker died is asked once more
            link = min(links, key=lambda link: (link.is_lost, not link.has(key), link.under_way))
            try:
                answer, size = link.ask(question, deadline)
                return freeze(answer), size
            except LOST:
                link.wait_for_loss()
        raise EngineDiedError("the worker ended twice while it was asked the same question")

    @contextmanager
    def _who_answers(
        self, key: ModelKey, kind: str, arguments: tuple = ()
    ) -> "Iterator[Sequence[Link | RemoteLink]]":
        """The workers that are asked this question about this model."""
        if self._laboratory is None or not needs_keras(key, kind, arguments):
            yield self._links
        else:
            with self._laboratory.awake() as link:
                yield [link]


def works_ahead() -> bool:
    """Whether workers that are started here make graphs while nobody asks: unless ATTENTION_AHEAD is 0."""
    return os.environ.get("ATTENTION_AHEAD") != "0"


def own_model() -> str | None:
    """The model that ATTENTION_MODEL names, "package.module:factory"; None where it names none.

    >>> own_model() is None  # the variable ATTENTION_MODEL is not set
    True
    """
    return os.environ.get(VARIABLE, "").strip() or None


def _readable(folders: Iterable[Path | str]) -> Iterator[ModelKey]:
    for folder in folders:
        with suppress(ModelFolderError):
            yield model_key(folder)
