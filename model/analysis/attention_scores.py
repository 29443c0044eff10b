"""Why a head looked there: the score of one attention weight, taken apart over what its query and its key were made of.

Before the softmax a score is a dot product of query and key. Both are linear in what is read, and that is a sum of what earlier parts
wrote. A softmax sees differences alone, so the question is: why this key and not the average key that the row sees? The difference is
split twice, over the parts of the query and over the parts of the key. Each split sums to it exactly (Elhage et al., "A Mathematical
Framework for Transformer Circuits", 2021). Then the largest parts are taken away at that position, one by one, and the look is measured
again.

Q query and K key positions, D d_model, d = D/H.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.activations.walk import PatchedTransformer
from model.analysis.patching import AblationValues, mean_values
from model.analysis.residual_stream import BIAS, EMBEDDING, decompose_residual, residual_taps
from model.correction.answers import Network
from model.trace.interventions import Head, Node, Patch, tap

TESTED = 3  # parts of the query and of the key that are taken away
QUERY, KEY = "query", "key"


class ScoreTerm(NamedTuple):
    """A part of the query or the key, and what it adds to the score, in nats.

    >>> ScoreTerm(Node("encoder_feed_forward", 0), 4.1).part.layer
    0
    """

    part: Node | str  # or "embedding", "position", "bias"
    nats: float


class ScoreAblation(NamedTuple):
    """The look without one part at the position of the query or of the key; intervened.

    >>> ScoreAblation("key", "embedding", nats=1.2, weight=0.1).holds(before=0.4)
    True
    """

    of: str  # "query" or "key"
    part: Node | str
    nats: float  # what the part adds to the score, observed
    weight: float  # of attention, without the part

    def holds(self, before: float) -> bool:
        """Whether the weight moves as the sum says: down without a part that adds to the score, up without one that takes away."""
        return (self.weight < before) == (self.nats > 0)


@dataclass(frozen=True)
class ScoreDecomposition:
    """One attention weight and its reasons."""

    head: Head
    query: int
    key: int
    weight: float
    score: float  # before the softmax, of this key minus the mean over all that the row sees, in nats
    of_query: tuple[ScoreTerm, ...]  # sum to ``score``
    of_key: tuple[ScoreTerm, ...]  # sum to ``score``, too
    ablations: tuple[ScoreAblation, ...]

    def remainder(self) -> float:
        """What is missing between the score and the sums: a rounding error."""
        sums = [sum(part.nats for part in parts) for parts in (self.of_query, self.of_key)]
        return max((self.score - each for each in sums), key=abs)


def decompose_attention_score(
    corrector: Network,
    source: str,
    target: str,
    head: Head,
    query: int,
    key: int,
    ablation: AblationValues | None = None,
) -> ScoreDecomposition:
    """The weight of ``head`` between row ``query`` and column ``key``.

    ``ablation``: what stands in for a part that is taken away, by default ``mean_values``.

    Raises ValueError for a cell that the map does not have, one that is masked, and for a network without a residual stream.

    >>> look = decompose_attention_score(corrector, "머거요", "먹어요", Head("cross_attention", 3, 0), query=0, key=1)
    >>> bool(np.isclose(sum(part.nats for part in look.of_key), look.score, atol=1e-3)), len(look.ablations)
    (True, 6)
    """
    network, tokenizer = corrector.patched, corrector.tokenizer
    if network.scores_hold_positions:
        raise ValueError(
            "the scores of this network hold positions besides queries and keys, and cannot be split"
        )
    ids = tokenizer.encode_source(source), tokenizer.encode_target(target)
    of_head = {head.kind, tap(head.kind, "query"), tap(head.kind, "key")}
    found = network.taps(*ids, {*residual_taps("encoder"), *residual_taps("decoder"), *of_head})
    weights = found[head.kind][head.layer, head.head]
    _check(head, weights, query, key)
    seen = query + 1 if head.kind == "decoder_attention" else weights.shape[1]
    sides = _Sides(network, found, Node(*head))
    # (Q, d), (K, d)
    queries, keys = (found[tap(head.kind, part)][head.layer, head.head] for part in (QUERY, KEY))
    scale = network.scale(keys.shape[-1])
    apart = keys[key] - keys[:seen].mean(axis=0)  # from the average key
    of_query = {part: each[query] for part, each in sides.parts(QUERY, apart / scale).items()}
    of_key = {
        part: each[key] - each[:seen].mean()
        for part, each in sides.parts(KEY, queries[query] / scale).items()
    }
    parts = {QUERY: _ranked(of_query), KEY: _ranked(of_key)}
    ablation = ablation or mean_values(corrector, source, target)
    tested = [(of, each) for of in (QUERY, KEY) for each in _largest(parts[of])]
    patches = [
        (sides.without(of, each.part, query if of == QUERY else key, ablation),) for of, each in tested
    ]
    left = _looks(network, ids, patches, head)[:, query, key].tolist()
    return ScoreDecomposition(
        head=head,
        query=query,
        key=key,
        weight=float(weights[query, key]),
        score=float(queries[query].astype(np.float64) @ apart / scale),
        of_query=parts[QUERY],
        of_key=parts[KEY],
        ablations=tuple(
            ScoreAblation(of, *each, weight) for (of, each), weight in zip(tested, left, strict=True)
        ),
    )


def _looks(
    network: PatchedTransformer,
    ids: tuple[list[int], list[int]],
    patches: Sequence[tuple[Patch, ...]],
    head: Head,
) -> np.ndarray:
    """(N, Q, K): the weights of a head in N patched passes."""
    looks = network.passes(*ids, patches, look=Node(*head)).looks
    assert looks is not None, "a head was asked about"
    return looks


def _check(head: Head, weights: np.ndarray, query: int, key: int) -> None:
    if not (0 <= query < weights.shape[0] and 0 <= key < weights.shape[1]):
        raise ValueError(f"the cell should lie in {weights.shape}, received {(query, key)}")
    if head.kind == "decoder_attention" and key > query:
        raise ValueError(f"row {query} cannot see what comes later, received column {key}")


def _largest(parts: Sequence[ScoreTerm]) -> list[ScoreTerm]:
    """The parts that are taken away; a bias cannot be."""
    return [each for each in parts if each.part != BIAS][:TESTED]


def _ranked(parts: dict[Node | str, np.ndarray]) -> tuple[ScoreTerm, ...]:
    return tuple(
        sorted(
            (ScoreTerm(part, float(nats)) for part, nats in parts.items()), key=lambda each: -abs(each.nats)
        )
    )


class _Sides:
    """Where a head's queries and keys come from."""

    def __init__(self, network: PatchedTransformer, found: dict[str, np.ndarray], node: Node):
        self._network, self._found, self._node = network, found, node
        across = node.kind == "cross_attention"
        self._places = {  # side and place of the stream that is read
            QUERY: (node.side, node.sublayer),
            KEY: ("encoder", found["encoder_output"].shape[0]) if across else (node.side, node.sublayer),
        }

    def parts(self, of: str, towards: np.ndarray) -> dict[Node | str, np.ndarray]:
        """By part: what it adds to the dot product of ``towards`` (d,) with the head's queries or keys, at all positions."""
        side, place = self._places[of]
        kernel, bias = self._network.projection(self._node, of)  # (D, d), (d,)
        norm = None
        if self._network.config.norm_first:
            crossing = of == KEY and self._node.kind == "cross_attention"
            norm = (
                self._network.closing_norm("encoder")
                if crossing
                else self._network.norm_weights(self._node.kind, self._node.layer)
            )
        parts = decompose_residual(self._network, self._found, side, place, kernel @ towards, norm)
        return parts | {BIAS: parts[BIAS] + bias @ towards}

    def without(self, of: str, part: Node | str, position: int, ablation: AblationValues) -> Patch:
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
