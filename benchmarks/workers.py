"""One process for each engine that is compared, so that no library's threads or settings reach another's."""

import multiprocessing
import time
from collections.abc import Callable
from typing import Self

REST = 0.3  # seconds; idle threads of OpenMP keep a core busy for up to 0.2 s after their work


class Worker:
    """An object made by ``make(*args)`` in a process of its own. Use as a context manager.

    Where the process ends on an error it prints it, and whoever waits for an answer gets EOFError.
    """

    def __init__(self, make: Callable, *args):
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, make, args), daemon=True)
        self._process.start()
        theirs.close()
        self._connection.recv()  # until the object is made: nothing else shall run meanwhile

    def call(self, method: str, *args):
        """What the object's ``method`` returns, after a rest."""
        time.sleep(REST)
        self._connection.send((method, args))
        return self._connection.recv()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_):
        self._connection.close()
        self._process.join()


def _serve(connection, make: Callable, args: tuple) -> None:
    thing = make(*args)
    connection.send("made")
    while True:
        try:
            method, arguments = connection.recv()
        except EOFError:  # the other side has closed
            return
        connection.send(getattr(thing, method)(*arguments))
