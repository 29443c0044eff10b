"""``Question``: a typed function that a worker answers; ``AnswerCache``: the last answers.

``engine.questions`` declares all questions. ``Edit`` is the argument of those about a change, ``Asked`` their
addressee.
"""

import inspect
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, Protocol, TypeVar

from engine.records import LIVE, MB, EngineError, ModelKey
from model.correction.answers import Answers, NetworkDescription
from model.graph.files import can_answer
from model.stored.folder import ModelFolderError, read_config
from model.trace.interventions import Head

P = ParamSpec("P")
R = TypeVar("R")
ChangeSpan = tuple[int, int]  # source_start and source_end of a change, counted in tokens of its trace
# (kind of attention, (L, H, D/H) numbers as nested tuples), …
Means = tuple[tuple[str, tuple[Any, ...]], ...]
HeadSets = tuple[tuple[Head, ...], ...]


class Edit(NamedTuple):
    """A change between two texts: the argument of each question about one change."""

    source: str
    target: str
    span: ChangeSpan
    asked: int = 0  # the one of ``Change.questions``

    @property
    def texts(self) -> tuple[str, str]:
        """(source, target).

        >>> Edit("머거요", "먹어요", (0, 2)).texts
        ('머거요', '먹어요')
        """
        return self.source, self.target


@dataclass(frozen=True)
class Question(Generic[P, R]):
    """A declared question. Called with a corrector and the question's arguments, it returns the answer."""

    name: str
    answer: Callable[..., R]
    needs: str | None  # the one of ``model.stored.config.ABILITIES`` that a model should have
    is_long: bool  # up to seconds: it waits in a separate queue, so that no correction waits for it
    kept: tuple[int, int]  # the number of answers, and their bytes, that the asking process keeps

    def __call__(self, corrector: Answers, *arguments: P.args, **named: P.kwargs) -> R:
        """The answer. Raises EngineError for a model that lacks ``needs``, and the errors of the model."""
        if not self.suits(corrector.config):
            raise EngineError(f"{corrector.name} cannot be asked {self.name!r}")
        return self.answer(corrector, *arguments, **named)

    def positional(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments in their order, as they are part of a key."""
        return inspect.signature(self.answer).bind(None, *arguments, **named).args[1:] if named else arguments

    def suits(self, config: NetworkDescription) -> bool:
        """Whether a model with this config answers it."""
        return self.needs is None or self.needs in config.abilities

    def needs_keras(self, key: ModelKey) -> bool:
        """Whether Keras answers it about a model, in a separate worker, since it takes seconds to start.

        Never about a ``model.TracedModel``, which brings its own library.

        >>> from assets import FOLDER
        >>> from engine.client import model_key
        >>> from engine.questions import correct, projections
        >>> keys = [model_key(FOLDER / name) for name in ("transformer", "seq2seq")]
        >>> [correct.needs_keras(key) for key in keys], [projections.needs_keras(key) for key in keys]
        ([False, False], [False, True])
        """
        if key.fingerprint == LIVE:
            return False
        if not can_answer(Path(key.path)):
            return True
        try:  # NumPy computes the activations and interventions of Transformers alone
            return self.needs is not None and read_config(Path(key.path)).architecture != "transformer"
        except ModelFolderError:  # the worker raises its error
            return False


QUESTIONS: dict[str, Question[Any, Any]] = {}


def question(
    needs: str | None = None,
    is_long: bool = False,
    kept: tuple[int, int] = (64, 16 * MB),
) -> Callable[[Callable[Concatenate[Any, P], R]], Question[P, R]]:
    """Declare a function as a question of its name; the arguments as in ``Question``."""

    def declare(answer: Callable[Concatenate[Any, P], R]) -> Question[P, R]:
        found: Question[P, R] = Question(answer.__name__, answer, needs, is_long, kept)
        QUESTIONS[found.name] = found
        return found

    return declare


class Asked(Answers, Protocol):
    """The engine's interface to a network that may be in another process.

    >>> def heads(asked: Asked) -> int:
    ...     return len(asked.ask(head_effects, Edit("머거요", "먹어요", (0, 2))).heads)
    """

    def ask(self, question: Question[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        """The answer. Raises ``NotLoadedError`` without a network."""
        ...

    def known(self, question: Question[P, R], *arguments: P.args, **named: P.kwargs) -> R | None:
        """The answer of ``ask`` if it is kept; None where it would have to ask."""
        ...


class AnswerCache:
    """The answers to the last questions, at most ``entries`` of them and ``room`` bytes in all.

    Safe to call from threads.

    The key of an answer holds everything that the answer depends on. Several threads that ask the same
    question at once wait for one answer; cachetools has neither this nor two limits.
    """

    def __init__(self, entries: int, room: int):
        self._entries, self._room = entries, room
        self._answers: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}  # of the finished answers
        self._lock = Lock()

    def get(self, key: Hashable, find: Callable[[], tuple[R, int]]) -> R:
        """The answer kept under ``key``, else that of ``find``, which returns the answer and its size in
        bytes.

        An error of ``find`` is raised in every thread that waits, and is not kept.
        """
        mine: Future[R] = Future()
        with self._lock:
            first = self._answers.setdefault(key, mine)
            self._answers.move_to_end(key)
        if first is not mine:
            return first.result()
        try:
            answer, size = find()
        except BaseException as error:
            with self._lock:
                del self._answers[key]
            mine.set_exception(error)
            raise
        mine.set_result(answer)
        with self._lock:
            self._sizes[key] = size
            while len(self._sizes) > self._entries or sum(self._sizes.values()) > self._room:
                oldest = next(key for key in self._answers if key in self._sizes)
                del self._answers[oldest], self._sizes[oldest]
        return answer

    def known(self, key: Hashable) -> Any | None:
        """The answer kept under ``key``; None without one, or while another thread waits for it."""
        with self._lock:
            if key not in self._sizes:
                return None
            self._answers.move_to_end(key)
            return self._answers[key].result()

    def __len__(self) -> int:
        return len(self._answers)
