"""The queue of questions about one loaded model, inside a worker.

Two threads answer, one question at a time: together in one batch sentences are not corrected sooner than one after the other. A third
thread answers the laboratory's questions, so that a correction never waits for those.
"""

import time
from concurrent.futures import Future
from threading import Condition, Thread
from typing import Any, NamedTuple

from engine.errors import EngineBusyError, EngineError, told
from engine.questions import QUESTIONS, answered
from model.correction.answers import Answers

# Threads that answer: a single sentence keeps only one core busy. One more thread is for the laboratory alone.
HANDS = 2


class DeskClosedError(EngineError):
    """The model has been taken out of the memory; the shelf has to load it again."""


class WaitingQuestion(NamedTuple):
    """A question, and where its answer will be."""

    kind: str
    arguments: tuple
    answer: Future


class Desk:
    """The queue of questions about one loaded model, the ``corrector``, and the threads that answer them.

    At most ``limit`` questions wait, and as many for the laboratory; one more raises EngineBusyError. ``hands`` threads
    answer. ``ask`` may be called from threads.
    """

    def __init__(self, corrector: Answers, limit: int, hands: int = HANDS):
        self.corrector, self._limit = corrector, limit
        self.is_warmed = False  # whether its laboratory is being prepared; see ``Shelf``
        self._waiting: list[WaitingQuestion] = []
        self._under_way = 0  # questions that are being answered
        self._last_busy = time.monotonic()
        self._closed = False
        self._changed = Condition()  # guards all that stands above
        works = [False] * hands + [True]
        self._threads = [Thread(target=self._work, args=(each,), daemon=True) for each in works]
        for thread in self._threads:
            thread.start()

    def ask(self, kind: str, arguments: tuple) -> Any:
        """The answer; waits for it. An error of the model is raised here.

        Raises EngineError for an unknown kind of question.
        """
        if kind not in QUESTIONS:
            raise EngineError(f"a question should be one of {sorted(QUESTIONS)}, received {kind!r}")
        question = WaitingQuestion(kind, arguments, Future())
        with self._changed:
            if self._closed:
                raise DeskClosedError("the model has left the memory")
            alike = len(self._waiting_for(QUESTIONS[kind].is_long))
            if alike >= self._limit:
                raise EngineBusyError(f"{alike} questions are waiting, {self._limit} may wait")
            self._waiting.append(question)
            self._changed.notify_all()
        return question.answer.result()

    def wait_until_idle(self, seconds: float) -> bool:
        """Return once nothing has been asked for so many seconds; False where the desk has been closed."""
        with self._changed:
            while not self._closed:
                busy = self._waiting or self._under_way
                rest = self._last_busy + seconds - time.monotonic()
                if not busy and rest <= 0:
                    return True
                self._changed.wait(None if busy else rest)
            return False

    def close(self) -> None:
        """End the threads after the questions that wait have been answered."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def join(self) -> None:
        for thread in self._threads:
            thread.join()

    def _work(self, laboratory: bool) -> None:
        while question := self._take(laboratory):
            answer(self.corrector, question)
            with self._changed:
                self._under_way -= 1
                self._last_busy = time.monotonic()
                self._changed.notify_all()

    def _take(self, laboratory: bool) -> WaitingQuestion | None:
        """The next question; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting_for(laboratory) or self._closed)
            mine = self._waiting_for(laboratory)
            if not mine:
                return None
            self._waiting.remove(mine[0])
            self._under_way += 1
            self._changed.notify_all()
            return mine[0]

    def _waiting_for(self, laboratory: bool) -> list[WaitingQuestion]:
        return [each for each in self._waiting if QUESTIONS[each.kind].is_long == laboratory]


def answer(corrector: Answers, question: WaitingQuestion) -> None:
    """Give the question its answer, or the error that it met."""
    try:
        question.answer.set_result(answered(corrector, question.kind, question.arguments))
    except Exception as error:  # noqa: BLE001  whoever asked gets it
        question.answer.set_exception(told(error))
