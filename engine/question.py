"""``Question``: a typed function that a worker answers; ``Edit``, its argument; ``Asked``, its addressee.

``engine.questions`` declares all of them.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, Protocol, TypeVar

from engine.records import LIVE, MB, EngineError, ModelKey
from model.correction.answers import Answers, NetworkDescription
from model.graph.files import can_answer
from model.stored.folder import ModelFolderError, read_config
from model.trace.interventions import Head

P = ParamSpec("P")
R = TypeVar("R")
ChangeSpan = tuple[int, int]  # source_start and source_end of a change, counted in tokens of its trace
Means = tuple[
    tuple[str, tuple[Any, ...]], ...
]  # (kind of attention, (L, H, D/H) numbers as nested tuples), …
HeadSets = tuple[tuple[Head, ...], ...]


class Edit(NamedTuple):
    """A change between two texts: the argument of each question about one change."""

    source: str
    target: str
    span: ChangeSpan

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
    # Whether NumPy answers it from the weights of a Transformer, without Keras. A function, if that depends
    # on the arguments.
    in_numpy: bool | Callable[..., bool]

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

    def needs_keras(self, key: ModelKey, arguments: tuple[Any, ...] = ()) -> bool:
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
        light = self.in_numpy(*arguments) if callable(self.in_numpy) else self.in_numpy
        if (self.needs is not None and not light) or not can_answer(Path(key.path)):
            return True
        try:  # NumPy computes Transformers alone
            return bool(self.in_numpy) and read_config(Path(key.path)).architecture != "transformer"
        except ModelFolderError:  # the worker raises its error
            return False


QUESTIONS: dict[str, Question[Any, Any]] = {}


def question(
    needs: str | None = None,
    is_long: bool = False,
    kept: tuple[int, int] = (64, 16 * MB),
    in_numpy: bool | Callable[..., bool] = False,
) -> Callable[[Callable[Concatenate[Any, P], R]], Question[P, R]]:
    """Declare a function as a question of its name; the arguments as in ``Question``."""

    def declare(answer: Callable[Concatenate[Any, P], R]) -> Question[P, R]:
        found: Question[P, R] = Question(answer.__name__, answer, needs, is_long, kept, in_numpy)
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
