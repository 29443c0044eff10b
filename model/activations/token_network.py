"""``TokenNetwork``: base class of loaded networks, which read and write token ids.

A graph and Keras differ only in how they compute one pass.

S source and T target tokens, L layers, H heads, Q query and K key positions, D d_model, V vocabulary.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Protocol, TypeVar

import numpy as np

from model.activations.drafting import Produced, Reading, read_off, settle_ahead
from model.activations.laboratory import Ids, Laboratory
from model.activations.replacements import checked_taps
from model.activations.walk import ActivationWalk
from model.stored.config import NetworkConfig
from model.text.tokenizer import END_ID, PAD_ID
from model.trace.interventions import Intervention, OutputWeights, Projections, tap

Item = TypeVar("Item")
Result = TypeVar("Result")


class OpenedNetwork(Protocol):
    """An opened folder: a keras.Model, or the ``TokenNetwork`` of its graph."""

    config: NetworkConfig

    def count_params(self) -> int: ...


class KerasPasses(Protocol):
    """The passes that only Keras computes, as ``KerasNetwork`` has them."""

    def recurrent_taps(self, source: Ids, target: Ids) -> dict[str, np.ndarray]: ...


class TokenNetwork(ABC):
    """A network whose sources are S ids and whose targets are T written ids, the end mark last.

    Safe to call from threads.

    Text, probabilities and attention come from ``reading``; activations and passes under interventions from
    the NumPy walk. ``space_id``: see ``drafting.settle``.
    """

    def __init__(self, config: NetworkConfig, space_id: int):
        self.config, self.space_id = config, space_id

    @abstractmethod
    def reading(self, source: Ids) -> Reading:
        """One source (S,), for all passes over drafts of its correction."""

    @abstractmethod
    def load_walk(self) -> ActivationWalk:
        """The same network in NumPy. Raises ValueError for one without a residual stream."""

    @abstractmethod
    def embeddings(self, ids: Ids) -> np.ndarray:
        """(S, D) float32 of S ids: the vectors before they are multiplied by sqrt(D)."""

    @abstractmethod
    def weight_shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The shape, such as (D, F), of each array of weights by its path."""

    @property
    @abstractmethod
    def keras(self) -> KerasPasses:
        """The same network in Keras; loading it may take seconds."""

    def warm_up(self) -> None:
        """Compute one pass: the first takes longer than those after it."""
        self.read([[END_ID]], [[END_ID]])

    def spread(self, answer: Callable[[list[Item]], list[Result]], items: list[Item]) -> list[Result]:
        """``answer(items)``, computed together or on several threads, whichever is faster."""
        return answer(items)

    def produce(self, sources: Sequence[Ids]) -> list[Produced | None]:
        """Greedy decoding of each source, with logits (T, V); None where no end mark comes in time."""
        return [settle_ahead(self.reading(source), source, self.space_id) for source in sources]

    def read(self, sources: Sequence[Ids], targets: Sequence[list[int]]) -> list[Produced]:
        """A teacher-forced pass over each source (S,) and its target (T,), with logits (T, V)."""
        pairs = zip(sources, targets, strict=True)
        return [
            self.reading(source).pass_over([target]).row(0, source, list(target)) for source, target in pairs
        ]

    def attend(self, source: Ids, target: Ids) -> dict[str, np.ndarray]:
        """The arrays of one pass that a trace needs, such as (L, H, Q, K): ``drafting.read_off``."""
        return read_off(self.read([source], [list(target)])[0])

    def taps(
        self, source: Ids, target: Ids, names: Iterable[str], intervention: Intervention | None = None
    ) -> dict[str, np.ndarray]:
        """Raises ValueError as ``laboratory.Passes.taps``; a recurrent network has activations, too."""
        names = checked_taps(names, self.config)
        if self.config.architecture == "transformer" or intervention is not None:
            return self.laboratory.taps(source, target, names, intervention)
        read = self.keras.recurrent_taps(source, target)
        return {name: read[name] for name in names}

    def project(self, source: Ids, target: Ids, padding: int = 0) -> dict[str, Projections]:
        """The queries (L, H, Q, D/H), keys and values of one pass by kind of attention.

        ``padding``: how many padding tokens both sides are longer, as in a batch with longer sentences.
        """
        longer = [PAD_ID] * padding
        source, target = [*source, *longer], [*target[:-1], *longer, *target[-1:]]
        names = {
            kind: [tap(kind, part) for part in ("query", "key", "value")]
            for kind in self.config.attention_kinds
        }
        read = self.taps(source, target, chain(*names.values()))
        return {kind: Projections(*(read[name] for name in parts)) for kind, parts in names.items()}

    def weight_sizes(self) -> dict[str, int]:
        """The number of parameters of each array of weights by its path."""
        return {path: int(np.prod(shape)) for path, shape in self.weight_shapes().items()}

    def count_params(self) -> int:
        return sum(self.weight_sizes().values())

    @cached_property
    def patched(self) -> ActivationWalk:
        """The NumPy walk. Raises ValueError for a network without a residual stream."""
        return self.load_walk()

    @property
    def output_weights(self) -> OutputWeights:
        """The unembedding. Raises ValueError for a network without a residual stream."""
        return self.patched.output_weights

    @cached_property
    def laboratory(self) -> Laboratory:
        """Passes under interventions. Raises ValueError for a network that takes none."""
        if self.config.architecture != "transformer":
            raise ValueError(f"interventions need a transformer, received a {self.config.architecture}")
        return Laboratory(self.patched, self.config, self.space_id)
