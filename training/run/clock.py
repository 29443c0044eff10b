"""``Clock``: ends a run after some minutes, and fits its learning rates to that time."""

import math
import time
from collections.abc import Callable


class Clock:
    """Tells when the time of a run is over, and where on its schedule it stands.

    Without a limit the schedule follows the steps. With one it follows steps or time, whichever is further along, so the learning
    rate has come down when the time is over. A run that is simply cut off has never come down from a high rate.

    >>> clock = Clock(seconds=100, first=0, total=1000, now=iter([0, 50, 100]).__next__)
    >>> clock.step_of_schedule(20)
    500
    >>> clock.is_over()
    True
    """

    def __init__(
        self, seconds: float | None, first: int, total: int, now: Callable[[], float] = time.monotonic
    ):
        self.seconds, self.first, self.total, self.now = seconds, first, total, now
        self.begun = now()

    def is_over(self) -> bool:
        return self.seconds is not None and self.now() - self.begun >= self.seconds

    def step_of_schedule(self, step: int) -> int:
        """The step whose learning rate step number ``step`` is taken with."""
        if self.seconds is None:
            return step
        share = min(1.0, (self.now() - self.begun) / max(self.seconds, 1e-9))
        return max(step, math.ceil(self.first + share * (self.total - self.first)))
