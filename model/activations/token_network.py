"""Base classes of a network on token ids and of its passes under interventions.

A graph and Keras differ only in how they compute one plain pass. Passes under interventions come from the
NumPy walk of either.

B rows, each a source, a target and an intervention, L layers, H heads, S source and T target tokens, Q query
and K key positions, D d_model, V vocabulary.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Protocol, TypeVar

import numpy as np

from model.activations.drafting import Pass, Produced, Reading, read_off, settle, settle_ahead
from model.activations.gradients import embedding_slopes
from model.activations.replacements import (
    Replacement,
    Rows,
    check_of_ours,
    checked_taps,
    constant_at,
    intervened,
    sublayer_name,
)
from model.activations.walk import ActivationWalk
from model.stored.config import NetworkConfig
from model.text.tokenizer import END_ID, PAD_ID
from model.trace.interventions import (
    ATTENTIONS,
    Insides,
    Intervention,
    Node,
    Projections,
    Slopes,
    Zeroed,
    kind_side,
    tap,
)
from model.trace.trace import ATTENTION_KINDS

Ids = Sequence[int]


class Passes(Protocol):
    """Passes under interventions on token ids.

    Sources are S ids; targets T written ids, the end mark last.
    """

    def pass_over(
        self, sources: Sequence[Ids], targets: Sequence[Ids], interventions: Sequence[Intervention]
    ) -> Pass:
        """One teacher-forced pass over B rows.

        Row t of the logits (B, T, V) predicts the token after ``targets[b][:t]``, so a target may be cut off
        behind the last row of interest. Attention holds the weights that were used.

        Raises:
            ValueError: for an intervention that the network does not take.
        """
        ...

    def write(
        self, sources: Sequence[Ids], interventions: Sequence[Intervention], forced: Sequence[Ids] = ()
    ) -> list[Produced | None]:
        """Greedy decoding under each intervention: logits (T, V), no attention; None without an end mark.

        ``forced``: of each row the ids with which it has to begin.
        """
        ...

    def taps(
        self, source: Ids, target: Ids, names: Iterable[str], intervention: Intervention | None = None
    ) -> dict[str, np.ndarray]:
        """The stacked activations ``names`` of one pass, without B.

        ``model.trace.interventions`` lists their shapes.

        Raises:
            ValueError: for names and for an intervention that the network does not have.
        """
        ...

    def slopes(self, source: Ids, target: Ids, contrast: Sequence[int], shares: Sequence[float]) -> Slopes:
        """The derivatives of a logit difference by a factor of the embedding of each token.

        The difference is logit(written) - logit(instead).

        All embeddings, before positions are added, are multiplied by one of ``shares`` (N,). The derivative
        by a token's factor is the sum over D of gradient times embedding. ``contrast``: row, written,
        instead.
        """
        ...


class Laboratory:
    """``Passes`` by the NumPy walk.

    ``space_id``: see ``drafting.settle``. Safe to call from threads; no answer is kept.
    """

    def __init__(self, walk: ActivationWalk, config: NetworkConfig, space_id: int):
        self.walk, self.config, self.space_id = walk, config, space_id

    def pass_over(
        self, sources: Sequence[Ids], targets: Sequence[Ids], interventions: Sequence[Intervention]
    ) -> Pass:
        rows = Rows.of(sources, targets, self._changes(sources, interventions))
        ends, attention = self.walk.run(rows, ATTENTION_KINDS)
        return Pass(self.walk.logits(ends), attention)

    def write(
        self, sources: Sequence[Ids], interventions: Sequence[Intervention], forced: Sequence[Ids] = ()
    ) -> list[Produced | None]:
        """Interventions on one source begin with the text that the network writes without any of them.

        Most change none of it, and one pass with the common part computed once shows that.
        """
        drafts = _Drafts(self.walk, list(sources), self._changes(sources, interventions))
        first = sources
        if not forced and len(sources) > 1 and all(source == sources[0] for source in sources):
            (plain,) = self.write(sources[:1], [Intervention()])
            first = sources if plain is None else [plain.ids] * len(sources)
        return settle(drafts, sources, self.space_id, forced, first)

    def taps(
        self, source: Ids, target: Ids, names: Iterable[str], intervention: Intervention | None = None
    ) -> dict[str, np.ndarray]:
        names = checked_taps(names, self.config)
        changes = self._changes([source], [intervention or Intervention()])
        _, read = self.walk.run(Rows([source], [target], changes, {}), names)
        return {name: read[name][0] for name in names}

    def slopes(self, source: Ids, target: Ids, contrast: Sequence[int], shares: Sequence[float]) -> Slopes:
        row, *tokens = contrast
        difference = self.walk.difference(*tokens)
        return embedding_slopes(
            self.walk, (source, target), shares, lambda passed: (passed.score(*tokens), difference), row
        )

    def _changes(
        self, sources: Sequence[Ids], interventions: Sequence[Intervention]
    ) -> list[dict[str, Replacement]]:
        for source, each in zip(sources, interventions, strict=True):
            check_of_ours(each, self.config, len(source) - source.count(PAD_ID))
        return [intervened(each, self.walk) for each in interventions]


class _Drafts:
    """Sources with replacements each, for all passes over drafts: a ``drafting.Readings``.

    The encoder reads a source once, in the first pass.
    """

    def __init__(self, walk: ActivationWalk, sources: list[Ids], changes: list[dict[str, Replacement]]):
        self._walk, self._sources, self._changes = walk, sources, changes
        self._memory: np.ndarray | None = None  # (B, S, D)

    def pass_over(self, drafts: Sequence[Ids]) -> Pass:
        rows = Rows.of(self._sources, drafts, self._changes, self._memory)
        ends, read = self._walk.run(rows, () if rows.memory is not None else ("memory",))
        self._memory = read.get("memory", self._memory)
        return Pass(self._walk.logits(ends), {})

    def keep(self, rows: Sequence[int]) -> None:
        self._sources = [self._sources[row] for row in rows]
        self._changes = [self._changes[row] for row in rows]
        self._memory = None if self._memory is None else self._memory[rows]


def insides_of(walk: ActivationWalk, source: Ids, target: Ids) -> Insides:
    """The weights (L, H, Q, K), values and residual stream of one plain pass, and projections."""
    kinds = [kind for kind in ATTENTION_KINDS if walk.layers(kind_side(kind)) and walk.has(kind)]
    values = {kind: tap(kind, "value") for kind in kinds}
    residuals = {side: tap(side, "residual") for side in ATTENTIONS}
    read = walk.taps(source, target, [*kinds, *values.values(), *residuals.values()])
    entering, kernels, biases, scales = {}, {}, {}, {}
    for kind in kinds:
        nodes = [Node(kind, layer, 0) for layer in range(len(read[kind]))]
        entering[kind] = read[residuals[nodes[0].side]][[node.sublayer for node in nodes]]
        kernels[kind], biases[kind] = walk.output_projections(kind, range(len(nodes)))
        scales[kind] = np.stack([walk.norm_weights(kind, node.layer)[0] for node in nodes])
    return Insides(
        {kind: read[kind] for kind in kinds},
        {kind: read[name] for kind, name in values.items()},
        entering,
        kernels,
        biases,
        None if walk.config.norm_first else scales,
    )


def zero_values(walk: ActivationWalk, source: Ids, target: Ids) -> Zeroed:
    """The cosine distance (L, Q, K) of each decoder layer's output without the values of one position.

    Only that layer is changed; its input is that of the plain pass. A decoder alone reads all positions.

    Reference:
        Mohebbi, Zuidema, Chrupała & Alishahi (EACL 2023), section 3.
    """
    read = walk.taps(source, target, ["memory", "decoder_residual"])
    counts = dict(
        zip(ATTENTIONS["decoder"], (read["decoder_residual"].shape[1], len(read["memory"])), strict=True)
    )
    distances: dict[str, list[np.ndarray]] = {kind: [] for kind in counts}
    for layer in range(walk.layers("decoder")):
        first = Node("decoder_attention", layer, 0).sublayer
        before, plain = read["decoder_residual"][[first, first + len(ATTENTIONS["decoder"]) + 1]]
        for kind, count in counts.items():
            name = f"{sublayer_name(kind, layer)}.value"
            changes = [{name: constant_at([position], 0.0, axis=1)} for position in range(count)]
            varied = walk.one_layer(layer, before, read["memory"], changes)  # (K, T, D)
            distances[kind].append(_cosine_distances(varied, plain[None]).T)
    return Zeroed(*(np.stack(each) for each in distances.values()))


def _cosine_distances(varied: np.ndarray, plain: np.ndarray) -> np.ndarray:
    """(N, Q, D) and (1, Q, D) -> (N, Q)."""
    unit = [x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-6) for x in (varied, plain)]
    return np.maximum(1 - (unit[0] * unit[1]).sum(axis=-1), 0)


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

    @cached_property
    def laboratory(self) -> Laboratory:
        """Passes under interventions. Raises ValueError for a network that takes none."""
        if self.config.architecture != "transformer":
            raise ValueError(f"interventions need a transformer, received a {self.config.architecture}")
        return Laboratory(self.patched, self.config, self.space_id)
