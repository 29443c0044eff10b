"""``Passes``: what a laboratory answers, as a type, whatever computes it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np

from model.plain.drafting import Pass, Produced
from model.trace.interventions import Intervention
from model.trace.laboratory_data import Insides, Slopes, Zeroed


class Passes(Protocol):
    """Passes under interventions on token ids, as ``model.network.laboratory.Laboratory`` has them, whose docstrings say
    more."""

    def pass_over(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
    ) -> Pass: ...

    def write(
        self,
        sources: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
        forced: Sequence[Sequence[int]] = (),
    ) -> list[Produced | None]: ...

    def taps(
        self,
        source: Sequence[int],
        target: Sequence[int],
        names: Iterable[str],
        intervention: Intervention | None = None,
    ) -> dict[str, np.ndarray]: ...

    def slopes(
        self, source: Sequence[int], target: Sequence[int], contrast: Sequence[int], shares: Sequence[float]
    ) -> Slopes: ...

    def insides(self, source: Sequence[int], target: Sequence[int]) -> Insides: ...

    def zeroed(self, source: Sequence[int], target: Sequence[int]) -> Zeroed: ...

    def warm_up(self) -> Iterator[None]: ...
