"""The circuit of a correction: the smallest set of parts found that keeps it when all others are taken away.

Parts are heads and feed-forward networks of both sides. A part that is taken away puts out its mean over a corpus (``stand_ins``). Parts
join the set in the order of their effect: how much of the score is lost without each alone. They join until the set keeps as much of the
score as was asked for. Each step is verified by a pass. Then each member that the set can do without is dropped. Sources: Wang et al.,
"Interpretability in the Wild" (2023), from which the names of the three measures come; Conmy et al., "Towards Automated Circuit
Discovery" (2023), who also drop greedily.

The set is not the only one, and nobody knows whether a smaller one exists. N parts, M members.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from model.analysis.contrasts import contrast_of_change
from model.analysis.stand_ins import AblationValues, mean_values
from model.correction.answers import Network
from model.text.changes import Change
from model.trace.odds import Contrast
from model.trace.patches import Node

GOAL = 0.9  # of the score, which the set should keep
RANDOM_SETS = 20
LEAST_SCORE = 0.5  # nats that all parts together should add; else there is nothing to explain


@dataclass(frozen=True)
class Circuit:
    """The members, and what was measured to find and to judge them. A share is of the score that all parts add together: 0 is the
    network with all of them taken away, 1 the network itself.
    """

    contrast: Contrast
    goal: float
    score: float  # of the whole network, in nats
    empty: float  # with all parts taken away
    nodes: tuple[Node, ...]  # (N,) all parts, those with the largest effect first
    effects: np.ndarray  # (N,) float32 nats: how much the score falls without this part alone
    growth: np.ndarray  # (N,) float32: the share that the first 1, 2, … of ``nodes`` keep
    members: tuple[Node, ...]  # (M,) in the order in which data passes them
    faithfulness: float  # the share that the members keep
    completeness: float  # the share that is left when the members alone are taken away
    without: np.ndarray  # (M,) float32: the share that the members keep without each of them
    random: np.ndarray  # (RANDOM_SETS,) float32: the shares that random sets of M parts keep

    @property
    def is_telling(self) -> bool:
        """Whether the parts add enough to the score to speak of shares of it."""
        return self.score - self.empty >= LEAST_SCORE

    @property
    def is_minimal(self) -> bool:
        """Whether each member is needed for the goal."""
        return bool((self.without < self.goal).all())


def find_circuit(
    corrector: Network,
    source: str,
    target: str,
    change: Change,
    goal: float = GOAL,
    ablation: AblationValues | None = None,
    seed: int = 0,
) -> Circuit:
    """The circuit of one change. ``ablation``: what stands in for parts that are taken away, by default ``mean_values``.

    Raises ValueError as ``contrast_of_change`` does, and for a network without a residual stream.

    >>> from model.text.changes import find_changes
    >>> (change,) = find_changes("머거요", "먹어요")
    >>> circuit = find_circuit(corrector, "머거요", "먹어요", change)
    >>> len(circuit.members) < len(circuit.nodes), circuit.faithfulness >= circuit.goal, circuit.is_minimal
    (True, True, True)
    """
    contrast = contrast_of_change(corrector, source, target, change)
    everything = corrector.patched.nodes
    scores = _scoring(corrector, source, target, contrast, ablation or mean_values(corrector, source, target))
    score, empty, *lost = scores([everything, (), *(_but(everything, node) for node in everything)])
    effects = score - np.array(lost)
    order = np.argsort(-effects, kind="stable")
    nodes = tuple(everything[i] for i in order)
    added = score - empty if score - empty >= LEAST_SCORE else np.inf

    def shares(kept: Sequence[Collection[Node]]) -> np.ndarray:
        return (scores(kept) - empty) / added

    growth = shares([nodes[: count + 1] for count in range(len(nodes))])
    reached = np.flatnonzero(growth >= goal)
    members = nodes[: reached[0] + 1] if reached.size else nodes if np.isfinite(added) else ()
    members = tuple(sorted(_thinned(members, goal, shares), key=everything.index))
    faithfulness, completeness, *rest = shares(
        [
            members,
            [node for node in everything if node not in members],
            *(_but(members, node) for node in members),
            *_random_sets(everything, len(members), seed),
        ]
    )
    return Circuit(
        contrast=contrast,
        goal=goal,
        score=float(score),
        empty=float(empty),
        nodes=nodes,
        effects=effects[order].astype(np.float32),
        growth=growth.astype(np.float32),
        members=members,
        faithfulness=float(faithfulness),
        completeness=float(completeness),
        without=np.array(rest[: len(members)], np.float32),
        random=np.array(rest[len(members) :], np.float32),
    )


Scoring = Callable[[Sequence[Collection[Node]]], np.ndarray]  # what it measures for each set that is kept


def _scoring(
    corrector: Network, source: str, target: str, contrast: Contrast, ablation: AblationValues
) -> Scoring:
    """The scores of passes in which all parts but those of each set are taken away."""
    network, tokenizer = corrector.patched, corrector.tokenizer
    ids = tokenizer.encode_source(source), tokenizer.encode_target(target)[: contrast.row + 1]

    def scores(kept: Sequence[Collection[Node]]) -> np.ndarray:
        taken = [ablation.patches(node for node in network.nodes if node not in nodes) for nodes in kept]
        return network.passes(*ids, taken).score(contrast.written, contrast.instead)

    return scores


def _random_sets(nodes: Sequence[Node], size: int, seed: int) -> list[list[Node]]:
    rng = np.random.default_rng(seed)
    return [[nodes[i] for i in rng.choice(len(nodes), size, replace=False)] for _ in range(RANDOM_SETS)]


def _but(nodes: Sequence[Node], left_out: Node) -> tuple[Node, ...]:
    return tuple(node for node in nodes if node != left_out)


def _thinned(members: tuple[Node, ...], goal: float, shares: Scoring) -> tuple[Node, ...]:
    """``members`` without those that the goal does not need, the least needed first, until each one that is left is needed."""
    while len(members) > 1:
        kept = shares([_but(members, node) for node in members])
        spare = [members[place] for place in np.argsort(-kept, kind="stable") if kept[place] >= goal]
        if not spare:
            return members
        members = _but(members, spare[0])
        for node in spare[1:]:  # without the first, another may be needed
            if len(members) > 1 and shares([_but(members, node)])[0] >= goal:
                members = _but(members, node)
    return members
