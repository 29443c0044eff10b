"""The queue of questions about one loaded model, inside a worker.

Two threads answer. Texts that wait are corrected together in one batch. A third thread answers the laboratory's questions, so that a
correction never waits for those.
"""

import time
from concurrent.futures import Future
from itertools import accumulate
from threading import Condition, Thread
from typing import Any, NamedTuple

from engine.errors import EngineBusyError, EngineError
from engine.questions import CORRECT, QUESTIONS, answered, correct_together
from model.correction.answers import AnswersMany

HANDS = 2  # threads that answer: a single sentence keeps one core busy. One more is for the laboratory alone
FEW = 4  # waiting texts up to which one at a time is quicker than together (benchmarks/engine_process.md)
TOGETHER = 16  # texts that are answered together at most
CHARACTERS = 2_000  # of them in all; above model.correction.corrector.KEPT_CHARACTERS their traces would cost more passes


class DeskClosedError(EngineError):
    """The model has been taken out of the memory; the shelf has to load it again."""


class Waiting(NamedTuple):
    kind: str
    arguments: tuple
    answer: Future


class Desk:
    """The queue of questions about one loaded model, the ``corrector``, and the threads that answer them.

    At most ``limit`` questions wait, and as many for the laboratory; one more raises EngineBusyError. ``hands`` threads
    answer. While more than ``few`` texts wait, several visitors' texts are answered together. ``ask`` may be called from threads.
    """

    def __init__(self, corrector: AnswersMany, limit: int, hands: int = HANDS, few: int = FEW):
        self._corrector, self._limit, self._few = corrector, limit, few
        self._waiting: list[Waiting] = []
        self._under_way = 0  # questions that are being answered
        self._last_busy = time.monotonic()
        self._changed = Condition()  # of all that stands above
        self._closed = False
        works = [False] * hands + [True]
        self._threads = [Thread(target=self._work, args=(each,), daemon=True) for each in works]
        for thread in self._threads:
            thread.start()

    def ask(self, kind: str, arguments: tuple) -> Any:
        """The answer; waits for it. An error of the model is raised here.

        Raises EngineError for an unknown kind of question, and for a correction of anything but one text.
        """
        if kind not in QUESTIONS:
            raise EngineError(f"a question should be one of {sorted(QUESTIONS)}, received {kind!r}")
        # The threads measure waiting texts outside of any question's ``try``, so these have to be texts.
        if kind == CORRECT and not (len(arguments) == 1 and isinstance(arguments[0], str)):
            received = [type(each).__name__ for each in arguments]
            raise EngineError(f"{CORRECT!r} should be asked with one str, received {received}")
        question = Waiting(kind, arguments, Future())
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
        while questions := self._take(laboratory):
            answer(self._corrector, questions)
            with self._changed:
                self._under_way -= len(questions)
                self._last_busy = time.monotonic()
                self._changed.notify_all()

    def _take(self, laboratory: bool) -> list[Waiting]:
        """The next question, with others that are answered together with it; none at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting_for(laboratory) or self._closed)
            mine = self._waiting_for(laboratory)
            taken = mine[:1]
            if taken and taken[0].kind == CORRECT:
                alike = [each for each in mine if each.kind == CORRECT]
                taken = _as_many_as_fit(alike) if len(alike) > self._few else taken
            chosen = set(map(id, taken))
            self._waiting = [each for each in self._waiting if id(each) not in chosen]
            self._under_way += len(taken)
            self._changed.notify_all()
            return taken

    def _waiting_for(self, laboratory: bool) -> list[Waiting]:
        return [each for each in self._waiting if QUESTIONS[each.kind].is_long == laboratory]


def _as_many_as_fit(questions: list[Waiting]) -> list[Waiting]:
    """The first questions, at least one, whose texts are short enough to be answered together."""
    sums = accumulate(len(question.arguments[0]) for question in questions[:TOGETHER])
    return questions[: max(1, sum(total <= CHARACTERS for total in sums))]


def answer(corrector: AnswersMany, questions: list[Waiting]) -> None:
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
            question.answer.set_result(answered(corrector, question.kind, question.arguments))
        except Exception as error:  # noqa: BLE001  whoever asked gets it
            question.answer.set_exception(error)
