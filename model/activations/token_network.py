"""What a ``Corrector`` asks of its network, as a type: everything in token ids, as NumPy arrays.

A graph (``model.graph.network.GraphNetwork``) and compiled Keras (``model.network.compiled.CompiledNetwork``) both answer so;
``tests/test_answers.py`` compares them with this type.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

import numpy as np

from model.activations.drafting import Produced
from model.activations.laboratory import Passes
from model.activations.walk import PatchedTransformer
from model.stored.config import NetworkConfig
from model.trace.interventions import Intervention, OutputWeights, Projections

Handed = TypeVar("Handed")
Returned = TypeVar("Returned")


class OpenedNetwork(Protocol):
    """What is read from a folder: a keras.Model, or a ``GraphNetwork``, which is an ``AnswersInIds``, too."""

    config: NetworkConfig

    def count_params(self) -> int: ...


class AnswersInIds(Protocol):
    """A loaded network. Sources and targets are ids; a target ends with the end mark."""

    def warm_up(self) -> None: ...

    def spread(self, answer: Callable[[list[Handed]], list[Returned]], items: list[Handed]) -> list[Returned]:
        """``answer(items)``, whatever it asks of this network, in the way that is fastest: all items at once, or each by itself on all cores."""
        ...

    def produce(self, sources: Sequence[Sequence[int]]) -> list[Produced | None]:
        """What it writes for each source; None where no end mark came in time."""
        ...

    def read(self, sources: Sequence[Sequence[int]], targets: Sequence[list[int]]) -> list[Produced]:
        """A pass over each source and its target."""
        ...

    def attend(self, source: Sequence[int], target: Sequence[int]) -> dict[str, np.ndarray]:
        """What a trace needs of one pass: ``model.activations.drafting.read_off``."""
        ...

    def project(
        self, source: Sequence[int], target: Sequence[int], padding: int = 0
    ) -> dict[str, Projections]: ...

    def taps(
        self,
        source: Sequence[int],
        target: Sequence[int],
        names: Iterable[str],
        intervention: Intervention | None = None,
        padding: int = 0,
    ) -> dict[str, np.ndarray]: ...

    def embeddings(self, ids: Sequence[int]) -> np.ndarray: ...

    def weight_sizes(self) -> dict[str, int]: ...

    @property
    def output_weights(self) -> OutputWeights:
        """Raises ValueError for a network without a residual stream; so does ``patched``."""
        ...

    @property
    def patched(self) -> PatchedTransformer: ...

    @property
    def laboratory(self) -> Passes:
        """Raises ValueError for a network that takes no interventions."""
        ...
