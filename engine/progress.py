"""How far a worker is with one model."""

from dataclasses import dataclass

WATCH = "watch"  # sent to a worker instead of a question: tell me of all progress from now on
STAGES = ("library", "weights", "first_run", "ready")  # in their order


@dataclass(frozen=True)
class Progress:
    """``stage`` is one of STAGES. ``compiled``, in 0..1, is the share of sentence lengths that have been
    compiled: a ready model answers at once, and about twice as fast once the length is compiled."""

    stage: str = STAGES[0]
    compiled: float = 0.0

    @property
    def order(self) -> int:
        """The number of the stage, from 0."""
        return STAGES.index(self.stage)

    @property
    def is_ready(self) -> bool:
        return self.stage == STAGES[-1]
