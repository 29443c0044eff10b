"""``AnswerCache``: the last answers of the engine, bounded in number and in bytes."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Any, TypeVar

R = TypeVar("R")


class AnswerCache:
    """The answers to the last questions, at most ``entries`` of them and ``room`` bytes in all.

    Safe to call from threads.

    The key of an answer holds everything that the answer depends on. Several threads that ask the same
    question at once wait for one answer; cachetools has neither this nor two limits.
    """

    def __init__(self, entries: int, room: int):
        self._entries, self._room, self._used = entries, room, 0
        self._answers: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}  # of the finished answers
        self._lock = Lock()

    def get(self, key: Hashable, find: Callable[[], tuple[R, int]]) -> R:
        """The answer kept under ``key``, else that of ``find``, which returns the answer and its size in
        bytes.

        An error of ``find`` is raised in every thread that waits, and is not kept.
        """
        with self._lock:
            known = self._answers.get(key)
            if known is None:
                mine: Future[R] = Future()
                self._answers[key] = mine
            else:
                self._answers.move_to_end(key)
        if known is not None:
            return known.result()
        try:
            answer, size = find()
        except BaseException as error:
            with self._lock:
                if self._answers.get(key) is mine:
                    del self._answers[key]
            mine.set_exception(error)
            raise
        mine.set_result(answer)
        with self._lock:
            if self._answers.get(key) is mine:
                self._sizes[key] = size
                self._used += size
                self._make_room()
        return answer

    def known(self, key: Hashable) -> Any | None:
        """The answer kept under ``key``; None without one, or while another thread waits for it."""
        with self._lock:
            if key not in self._sizes:
                return None
            self._answers.move_to_end(key)
            return self._answers[key].result()

    def clear(self) -> None:
        with self._lock:
            self._answers.clear()
            self._sizes.clear()
            self._used = 0

    def __len__(self) -> int:
        return len(self._answers)

    def _make_room(self) -> None:
        while len(self._sizes) > self._entries or self._used > self._room:
            oldest = next(key for key in self._answers if key in self._sizes)
            del self._answers[oldest]
            self._used -= self._sizes.pop(oldest)
