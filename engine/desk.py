"""Where the questions about one loaded model wait for their turn, inside a worker."""

from collections import deque
from concurrent.futures import Future
from itertools import accumulate
from threading import Condition, Thread
from typing import Any, NamedTuple

from engine.errors import EngineBusyError, EngineError
from engine.questions import CORRECT, QUESTIONS, correct_together

HANDS = 2  # threads that answer: a single sentence keeps one core busy
FEW = 4  # waiting texts up to which one at a time is quicker than together (benchmarks/engine_process.md)
TOGETHER = 16  # texts that are answered together at most
CHARACTERS = (
    2_000  # of them in all; above model.corrector.KEPT_CHARACTERS their traces would cost more passes
)


class DeskClosedError(EngineError):
    """The model has been taken out of the memory; the shelf has to load it again."""


class Waiting(NamedTuple):
    kind: str
    arguments: tuple
    answer: Future


class Desk:
    """Answers questions about one ``corrector``, several visitors' texts together where many wait.

    At most ``limit`` questions wait; one more raises EngineBusyError. ``hands`` threads answer; while more
    than ``few`` texts wait, they are answered together. ``ask`` may be called from threads.
    """

    def __init__(self, corrector, limit: int, hands: int = HANDS, few: int = FEW):
        self._corrector, self._limit, self._few = corrector, limit, few
        self._waiting: deque[Waiting] = deque()
        self._changed = Condition()
        self._closed = False
        self._threads = [Thread(target=self._work, daemon=True) for _ in range(hands)]
        for thread in self._threads:
            thread.start()

    def ask(self, kind: str, arguments: tuple) -> Any:
        """The answer, or what was raised instead. Waits."""
        if kind not in QUESTIONS:
            raise EngineError(f"a question should be one of {sorted(QUESTIONS)}, received {kind!r}")
        question = Waiting(kind, arguments, Future())
        with self._changed:
            if self._closed:
                raise DeskClosedError("the model has left the memory")
            if len(self._waiting) >= self._limit:
                raise EngineBusyError(f"{len(self._waiting)} questions are waiting, {self._limit} may wait")
            self._waiting.append(question)
            self._changed.notify()
        return question.answer.result()

    def close(self) -> None:
        """End the threads once what waits has been answered."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def join(self) -> None:
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while questions := self._take():
            answer(self._corrector, questions)

    def _take(self) -> list[Waiting]:
        """The next question, with others that are answered together with it; none at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if not self._waiting:
                return []
            alike = [each for each in self._waiting if each.kind == CORRECT]
            if self._waiting[0].kind != CORRECT or len(alike) <= self._few:
                return [self._waiting.popleft()]
            taken = _as_many_as_fit(alike)
            chosen = set(map(id, taken))
            self._waiting = deque(each for each in self._waiting if id(each) not in chosen)
            return taken


def _as_many_as_fit(questions: list[Waiting]) -> list[Waiting]:
    """The first questions, at least one, whose texts are short enough to be answered together."""
    sums = accumulate(len(question.arguments[0]) for question in questions[:TOGETHER])
    return questions[: max(1, sum(total <= CHARACTERS for total in sums))]


def answer(corrector, questions: list[Waiting]) -> None:
    """Give each question its answer, or the error that it met. One text's error is not its neighbours'."""
    if len(questions) > 1:
        try:
            answers = correct_together(corrector, [question.arguments[0] for question in questions])
        except Exception:  # noqa: BLE001  whoever asked gets it
            for question in questions:
                answer(corrector, [question])
        else:
            for question, found in zip(questions, answers, strict=True):
                question.answer.set_result(found)
        return
    for question in questions:
        try:
            question.answer.set_result(QUESTIONS[question.kind](corrector, *question.arguments))
        except Exception as error:  # noqa: BLE001  whoever asked gets it
            question.answer.set_exception(error)
