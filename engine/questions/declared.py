"""How a question to a worker is declared, and the list of all that are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.errors import EngineError
from model.correction.answers import Answers, NetworkDescription

MB = 2**20
CORRECT = "correct"


@dataclass(frozen=True)
class EngineQuestion:
    """A declared question. Called with a corrector and the question's arguments, it returns the answer."""

    answer: Callable[..., Any]
    needs: str | None  # which of ``model.stored.config.ABILITIES`` a model should have
    is_long: bool  # whether it takes up to seconds: then it waits apart, so that no correction waits for it
    kept: tuple[int, int]  # how many answers, and bytes of them, the asking process keeps
    # Whether NumPy answers it from the weights of a Transformer, without Keras. A function, if that depends on the arguments.
    in_numpy: bool | Callable[..., bool] = False

    def __call__(self, corrector: Answers, *arguments: Any) -> Any:
        return self.answer(corrector, *arguments)

    def in_keras(self, arguments: tuple = ()) -> bool:
        """Whether Keras answers it about a network of ours. Keras takes seconds to start and much memory, so a worker of its own is asked
        (``engine/laboratory.py``). A question that needs no ability is answered by a graph."""
        light = self.in_numpy(*arguments) if callable(self.in_numpy) else self.in_numpy
        return self.needs is not None and not light

    def suits(self, config: NetworkDescription) -> bool:
        """Whether a model with this config answers it."""
        return self.needs is None or self.needs in config.abilities


QUESTIONS: dict[str, EngineQuestion] = {}


def question(
    name: str,
    needs: str | None = None,
    is_long: bool = False,
    kept: tuple[int, int] = (64, 16 * MB),
    in_numpy: bool | Callable[..., bool] = False,
) -> Callable:
    """Declare a function as the question ``name``; the rest as in ``EngineQuestion``."""

    def declare(answer: Callable) -> Callable:
        QUESTIONS[name] = EngineQuestion(answer, needs, is_long, kept, in_numpy)
        return answer

    return declare


def answered(corrector: Answers, kind: str, arguments: tuple) -> Any:
    """The answer to one of QUESTIONS. Raises what the model raises, and EngineError for a question that does not suit it."""
    if not QUESTIONS[kind].suits(corrector.config):
        raise EngineError(f"{corrector.name} cannot be asked {kind!r}")
    return QUESTIONS[kind](corrector, *arguments)
