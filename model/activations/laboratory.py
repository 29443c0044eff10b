"""``Laboratory``: NumPy forward passes under interventions, on token ids.

B rows, each a source, a target and an intervention, L layers, H heads, S source and T target tokens, Q query
and K key positions, D d_model, V vocabulary.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from model.activations.drafting import Pass, Produced, settle
from model.activations.gradients import embedding_slopes
from model.activations.replacements import (
    Replacement,
    Rows,
    check,
    checked_taps,
    constant_at,
    intervened,
    sublayer_name,
)
from model.activations.sublayers import kind_side
from model.activations.walk import ActivationWalk
from model.stored.config import NetworkConfig
from model.text.tokenizer import PAD_ID
from model.trace.interventions import ATTENTIONS, Insides, Intervention, Node, Slopes, Zeroed, tap
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

    def insides(self, source: Ids, target: Ids) -> Insides:
        """The weights (L, H, Q, K), values and residual stream of one plain pass, and projections."""
        ...

    def zeroed(self, source: Ids, target: Ids) -> Zeroed:
        """The cosine distance of each decoder layer's output without the values of one position.

        Only that layer is changed; its input is that of the plain pass. Source: Mohebbi, Zuidema, Chrupała &
        Alishahi (EACL 2023), section 3.
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

    def insides(self, source: Ids, target: Ids) -> Insides:
        return insides(self.walk, source, target)

    def zeroed(self, source: Ids, target: Ids) -> Zeroed:
        return zeroed(self.walk, source, target)

    def _changes(
        self, sources: Sequence[Ids], interventions: Sequence[Intervention]
    ) -> list[dict[str, Replacement]]:
        known: dict[tuple[int, int], dict[str, Replacement]] = {}
        for source, each in zip(sources, interventions, strict=True):
            if (key := (len(source), id(each))) not in known:
                check(each, self.config, len(source) - source.count(PAD_ID))
                known[key] = intervened(each, self.walk)
        return [known[len(source), id(each)] for source, each in zip(sources, interventions, strict=True)]


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


def insides(walk: ActivationWalk, source: Ids, target: Ids) -> Insides:
    """``Passes.insides`` of any network that can be walked: weights (L, H, Q, K) by kind, and so on."""
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


def zeroed(walk: ActivationWalk, source: Ids, target: Ids) -> Zeroed:
    """``Passes.zeroed`` (L, Q, K) of a network that can be walked; a decoder alone reads all positions."""
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
