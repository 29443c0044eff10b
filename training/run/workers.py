"""Makes a run's batches in background processes, ahead of its steps."""

import gc
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from multiprocessing.connection import Connection
from typing import Any, Self

from training.run.network import keep_freed_memory
from training.run.stream import Batch, Position

_THREADED = {"tensorflow", "jax"}  # have threads of their own: a fork of a process that runs them can hang


class Stream:
    """Batches from ``start`` on, each with the position that follows it. A context manager: its processes start when it is
    entered and end when it is left, whatever they are doing.

    Of N processes each makes every Nth pool and hands it over through a pipe of its own. So they need neither locks nor
    threads, and a process that is killed while it writes blocks nobody. They are forked if no library with threads is loaded
    yet, because a fork shares the corpus. Otherwise they are spawned, and each has to be sent the corpus, which takes half a
    minute with 15 processes and 600,000 sentences.
    """

    def __init__(self, maker: Callable[[int], list[Batch]], start: Position, workers: int = 1):
        self.maker, self.start, self.workers = maker, start, workers

    def __enter__(self) -> Self:
        forks = sys.platform == "linux" and not _THREADED & sys.modules.keys()
        if forks:
            gc.collect()
            gc.freeze()  # or a collection in each process would copy the memory that they share
        context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        self.processes, self._pipes = [], []
        for number in range(self.workers):
            pipe, far_end = context.Pipe(duplex=False)
            arguments = self.maker, self.start.pool + number, self.workers, far_end, os.getpid()
            process = context.Process(target=_work, args=arguments, daemon=True)
            process.start()
            far_end.close()  # the process has its own, so that its death ends the pipe
            self.processes.append(process)
            self._pipes.append(pipe)
        return self

    def __exit__(self, *_) -> None:
        for process in self.processes:
            process.kill()  # a pool takes seconds to finish, and nobody waits for it
        for process, pipe in zip(self.processes, self._pipes, strict=True):
            process.join()
            pipe.close()

    def __iter__(self) -> Iterator[tuple[Batch, Position]]:
        """Raises what went wrong in a process, and RuntimeError where one was killed."""
        pool, skip = self.start
        for number in count():
            batches = self._receive(number % self.workers)
            for i in range(skip, len(batches)):
                done = i + 1 == len(batches)
                yield batches[i], Position(pool + 1, 0) if done else Position(pool, i + 1)
            pool, skip = pool + 1, 0

    def _receive(self, number: int) -> list[Batch]:
        try:
            made = self._pipes[number].recv()
        except EOFError as error:
            raise RuntimeError("a process that makes pairs was ended from outside") from error
        if isinstance(made, Exception):
            raise made
        return made


def _work(
    maker: Callable[[int], list[Batch]], first: int, stride: int, pipe: Connection, parent: int
) -> None:
    # A judge's network is small; the cores and the GPU belong to the one that is trained.
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
    os.environ["JAX_PLATFORMS"] = "cpu"
    keep_freed_memory()

    def follow_parent():  # a killed parent cannot tell its workers to end
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(0)

    threading.Thread(target=follow_parent, daemon=True).start()
    try:
        for index in count(first, stride):
            pipe.send(maker(index))
    except Exception as error:
        pipe.send(error)
        raise
