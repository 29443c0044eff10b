"""``Progress``: how far a worker is with loading and compiling one model."""

import time
from dataclasses import dataclass, field

from engine.errors import ModelChangedError
from model.stored.folder import ModelFolderError

WATCH = "watch"  # sent to a worker instead of a question: tell me of all progress from now on
PREPARE = "prepare"  # instead of a kind of question: load this model, and tell at once how far it is
CLASSROOMS = "classrooms"  # instead of a kind of question: a call of ``classroom.AnyClassrooms``
STAGES = ("library", "weights", "first_run", "ready")  # in their order


@dataclass(frozen=True)
class Progress:
    """How far a model is. ``stage`` is one of STAGES.

    ``problem`` is the error that ended the loading at this stage. ``begun`` is when it began, as time.time().

    >>> Progress("first_run").order, Progress("ready").is_ready
    (2, True)
    """

    stage: str = STAGES[0]
    problem: Exception | None = None
    begun: float = field(default_factory=time.time, compare=False)

    @property
    def order(self) -> int:
        """The number of the stage, from 0."""
        return STAGES.index(self.stage)

    @property
    def is_ready(self) -> bool:
        return self.stage == STAGES[-1]

    @property
    def may_be_tried_again(self) -> bool:
        """Whether loading failed for a reason that may pass, such as too little memory. A damaged folder stays damaged."""
        return self.problem is not None and not isinstance(
            self.problem, (ModelFolderError, ModelChangedError)
        )

    @property
    def seconds(self) -> float:
        """The seconds since the loading began."""
        return max(0.0, time.time() - self.begun)
