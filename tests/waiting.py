"""Waiting for other threads and processes."""

import time
from collections.abc import Callable

SECONDS = 120  # far more than it ever takes: a busy machine is slow


def wait_until(holds: Callable[[], object], look_again: Callable[[], object] = lambda: None) -> None:
    """Return once ``holds`` is true; ``look_again`` is called in between.

    Raises:
        TimeoutError: it never came to that.
    """
    end = time.monotonic() + SECONDS
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("it never came to that")
        look_again()
        time.sleep(0.005)
