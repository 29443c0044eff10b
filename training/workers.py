"""The background processes that make a run's batches ahead of its steps."""

import gc
import multiprocessing
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Self

from training.network import keep_freed_memory
from training.stream import Batch, PoolMaker, Position

_THREADED = {
    "tensorflow",
    "jax",
}  # libraries with threads of their own: a fork of a process that runs them can hang

_make_pool: PoolMaker | None = None  # the worker process's own PoolMaker


class Stream:
    """Batches from ``start`` on, each with the position that follows it. A context manager: its processes begin when it is
    entered and are ended, whatever they are doing, when it is left.

    They are forked where no library with threads is loaded yet: a fork shares the corpus, where each new process would have
    to be sent it (with 15 processes and 600,000 sentences, half a minute). Else they are spawned.
    """

    def __init__(self, maker: PoolMaker, start: Position, workers: int = 1, ahead: int | None = None):
        self.maker, self.start, self.workers = maker, start, workers
        self.ahead = ahead or 2 * workers + 1  # pools in the making

    def __enter__(self) -> Self:
        self._others = set(multiprocessing.active_children())
        forks = sys.platform == "linux" and not _THREADED & sys.modules.keys()
        if forks:
            gc.collect()
            gc.freeze()  # or a collection in each process would copy the memory that they share
        context = multiprocessing.get_context("fork" if forks else "spawn")
        arguments = (self.maker, os.getpid())
        self._executor = ProcessPoolExecutor(self.workers, context, _start_worker, arguments)
        self._pools = deque(self._ordered(self.start.pool + i) for i in range(self.ahead))
        return self

    def __exit__(self, *_) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - self._others:
            process.kill()  # a pool takes seconds to finish, and nobody waits for it

    def __iter__(self) -> Iterator[tuple[Batch, Position]]:
        pool, skip = self.start
        while True:
            batches = self._pools.popleft().result()
            self._pools.append(self._ordered(pool + self.ahead))
            for i in range(skip, len(batches)):
                done = i + 1 == len(batches)
                yield batches[i], Position(pool + 1, 0) if done else Position(pool, i + 1)
            pool, skip = pool + 1, 0

    def _ordered(self, index: int):
        return self._executor.submit(_work, index)


def _start_worker(maker: PoolMaker, parent: int) -> None:
    global _make_pool
    _make_pool = maker
    # A judge's network is small; the cores and the GPU belong to the one that is trained.
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
    os.environ["JAX_PLATFORMS"] = "cpu"
    keep_freed_memory()

    def follow_parent():  # a killed parent cannot tell its workers to end
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(0)

    threading.Thread(target=follow_parent, daemon=True).start()


def _work(index: int) -> list[Batch]:
    assert _make_pool is not None, "``_start_worker`` has run"
    return _make_pool(index)
