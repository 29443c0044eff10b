"""Decomposition of an attention score over the parts of its query and its key.

Before the softmax a score is a dot product of query and key. Both are linear in the stream that they read,
which is a sum of the outputs of earlier parts. A softmax depends on differences alone, so the score is taken
relative to the average key that the row sees. This difference is decomposed twice, over the parts of the
query and over the parts of the key; each decomposition sums to it exactly. Then the largest parts are ablated
at that position, one by one, and the attention weight is measured again.

Shapes: Q query and K key positions, D d_model, d = D/H.

Reference: Elhage et al., "A Mathematical Framework for Transformer Circuits" (2021).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.activations.replacements import Rows, replacements_of
from model.activations.walk import ActivationWalk
from model.analysis.ablation import AblationValues, mean_values
from model.analysis.residual_stream import BIAS, EMBEDDING, POSITION, decompose_residual, stream_taps
from model.analysis.saving import Result
from model.correction.answers import Network
from model.trace.interventions import Head, Node, Patch, tap

TESTED = 3  # parts of the query and of the key that are ablated
QUERY, KEY = "query", "key"


class ScoreTerm(NamedTuple):
    """A part of the query or the key, and its contribution to the score, in nats.

    >>> ScoreTerm(Node("encoder_feed_forward", 0), 4.1).part.layer
    0
    """

    part: Node | str  # or "embedding", "position", "bias"
    nats: float


class ScoreAblation(NamedTuple):
    """The attention weight with one part ablated at the position of the query or of the key; intervened.

    >>> ScoreAblation("key", "embedding", nats=1.2, weight=0.1).holds(before=0.4)
    True
    """

    of: str  # "query" or "key"
    part: Node | str
    nats: float  # the contribution of the part to the score, observed
    weight: float  # of attention, with the part ablated

    def holds(self, before: float) -> bool:
        """Whether the weight moves against the sign of the part's contribution, as it should."""
        return (self.weight < before) == (self.nats > 0)


@dataclass(frozen=True)
class ScoreDecomposition(Result):
    """One attention weight, the terms of its score, and the ablations of the largest."""

    head: Head
    query: int
    key: int
    weight: float
    score: float  # before the softmax, of this key minus the mean over all that the row sees, in nats
    of_query: tuple[ScoreTerm, ...]  # sum to ``score``
    of_key: tuple[ScoreTerm, ...]  # sum to ``score``, too
    ablations: tuple[ScoreAblation, ...]
    reference: str  # of the ablation values

    def remainder(self) -> float:
        """The larger difference in nats between the score and the two sums: a rounding error."""
        sums = [sum(part.nats for part in parts) for parts in (self.of_query, self.of_key)]
        return max((self.score - each for each in sums), key=abs)


class AttentionCell(NamedTuple):
    """One cell of a head's attention map."""

    head: Head
    query: int  # its row
    key: int  # its column


def decompose_attention_score(
    corrector: Network, source: str, target: str, cell: AttentionCell, ablation: AblationValues | None = None
) -> ScoreDecomposition:
    """Decompose the score of one cell of a head's attention over the parts of its query and of its key.

    Args:
        ablation: the values of ablated parts, by default ``mean_values``.

    Raises:
        ValueError: for a cell that the map does not have, one that is masked, and a network without a
            residual stream.

    Example:
        >>> cell = AttentionCell(Head("cross_attention", 3, 0), query=0, key=1)
        >>> found = decompose_attention_score(corrector, "머거요", "먹어요", cell)
        >>> abs(found.remainder()) < 1e-3, len(found.ablations)
        (True, 6)
    """
    head, query, key = cell
    network, tokenizer = corrector.patched, corrector.tokenizer
    if network.scores_hold_positions:
        raise ValueError(
            "the scores of this network hold positions besides queries and keys, and cannot be split"
        )
    ids = tokenizer.encode_source(source), tokenizer.encode_target(target)
    of_head = {head.kind, tap(head.kind, QUERY), tap(head.kind, KEY)}
    found = network.taps(*ids, {*stream_taps("heads"), *of_head})
    weights = found[head.kind][head.layer, head.head]
    _check(head, weights, (query, key))
    seen = query + 1 if head.kind == "decoder_attention" else weights.shape[1]
    sides = ReadSides(network, found, Node(*head))
    # (Q, d), (K, d)
    queries, keys = (found[tap(head.kind, part)][head.layer, head.head] for part in (QUERY, KEY))
    scale = network.scale(keys.shape[-1])
    apart = keys[key] - keys[:seen].mean(axis=0)  # from the average key
    of_query = {part: each[query] for part, each in sides.parts(QUERY, apart / scale).items()}
    by_key = sides.parts(KEY, queries[query] / scale)
    of_key = {part: each[key] - each[:seen].mean() for part, each in by_key.items()}
    terms = {QUERY: _ranked(of_query), KEY: _ranked(of_key)}
    values = ablation or mean_values(corrector, source, target)
    # A bias has no ablation.
    largest = {of: [each for each in terms[of] if each.part != BIAS][:TESTED] for of in terms}
    tested = [(of, each) for of, some in largest.items() for each in some]
    left = sides.weights_without(ids, (query, key), [(of, each.part) for of, each in tested], values)
    return ScoreDecomposition(
        head=head,
        query=query,
        key=key,
        weight=float(weights[query, key]),
        score=float(queries[query].astype(np.float64) @ apart / scale),
        of_query=terms[QUERY],
        of_key=terms[KEY],
        ablations=tuple(
            ScoreAblation(of, *each, weight) for (of, each), weight in zip(tested, left, strict=True)
        ),
        reference=values.reference,
    )


def _check(head: Head, weights: np.ndarray, cell: tuple[int, int]) -> None:
    query, key = cell
    if not (0 <= query < weights.shape[0] and 0 <= key < weights.shape[1]):
        raise ValueError(f"the cell should lie in {weights.shape}, received {cell}")
    if head.kind == "decoder_attention" and key > query:
        raise ValueError(f"row {query} cannot see what comes later, received column {key}")


def _ranked(parts: Mapping[Node | str, np.ndarray]) -> tuple[ScoreTerm, ...]:
    terms = (ScoreTerm(part, float(nats)) for part, nats in parts.items())
    return tuple(sorted(terms, key=lambda each: -abs(each.nats)))


class ReadSides:
    """The places of the streams that a head's queries and keys are projected from."""

    def __init__(self, network: ActivationWalk, found: Mapping[str, np.ndarray], node: Node):
        self._network, self._found, self._node = network, found, node
        own = node.side, node.sublayer
        end = "encoder", found["encoder_output"].shape[0]
        self._places = {QUERY: own, KEY: end if node.kind == "cross_attention" else own}

    def parts(self, of: str, towards: np.ndarray) -> dict[Node | str, np.ndarray]:
        """By part:

        its contribution to the dot product of ``towards`` (d,) with the head's queries or keys, at all
        positions.
        """
        network, node = self._network, self._node
        kernel, bias = network.projection(node, of)  # (D, d), (d,)
        norm = None
        if network.config.norm_first:
            crossing = of == KEY and node.kind == "cross_attention"
            norm = (
                network.closing_norm("encoder") if crossing else network.norm_weights(node.kind, node.layer)
            )
        side, place = self._places[of]
        stream = self._found[tap(side, "residual")][place]
        entered = stream if norm is None else network.normalisation.of(stream, *norm)
        directions, shifts = network.unturned(
            network.projection_name(node, of), towards, entered @ kernel + bias
        )
        parts = decompose_residual(network, self._found, (side, place), directions @ kernel.T, norm)
        return parts | {BIAS: parts[BIAS] + directions @ bias + shifts}

    def key_parts(self) -> list[Node | str]:
        """The parts that the head's keys are made of and that have an ablation value."""
        side, place = self._places[KEY]
        nodes = (node for node in self._network.nodes if node.side == side and node.sublayer < place)
        return [EMBEDDING, POSITION, *nodes]

    def weights_without(
        self,
        ids: tuple[list[int], list[int]],
        cell: tuple[int, int],
        tested: Sequence[tuple[str, Node | str]],
        ablation: AblationValues,
    ) -> list[float]:
        """The attention weight of a cell with each part of its query or key ablated at that position."""
        query, key = cell
        patches = [(self._without(of, part, query if of == QUERY else key, ablation),) for of, part in tested]
        rows = Rows([ids[0]], [ids[1]], [*map(replacements_of, patches)], {})
        _, read = self._network.run(rows, [self._node.kind])
        return read[self._node.kind][:, self._node.layer, self._node.head, query, key].tolist()

    def _without(self, of: str, part: Node | str, position: int, ablation: AblationValues) -> Patch:
        """The patch that ablates a part at one position."""
        side, _ = self._places[of]
        if isinstance(part, Node):
            value = ablation.nodes[part]
            return Patch.of(part, value if value.ndim == 1 else value[position], position)
        start, embedding = (self._found[tap(side, name)] for name in ("residual", "embedding"))
        positions = start[0] - embedding
        if part == EMBEDDING:
            mean = ablation.embeddings[side]
            value = positions[position] + (mean if mean.ndim == 1 else mean[position])
        else:
            value = embedding[position] + positions.mean(axis=0)
        return Patch(tap(side, "residual"), 0, value, position)
