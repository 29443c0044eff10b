"""Circuit discovery by greedy search: ``find_circuit`` of an edit, or of several edits.

A circuit is a set of nodes (heads and feed-forward networks of both sides) that keeps a share of the score,
log p(fix) - log p(keep) in nats, while all other nodes are ablated (``ablation``). Three greedy orders look
for one: backward, from the nodes with the largest effects (the loss of the score when each alone is ablated),
forward, from no nodes, and by edge, from the nodes that the largest estimated edges connect with the answer.
From each, members that the goal does not need are dropped, and the smallest set wins; each step is verified
by a pass. A set that keeps more than the whole network is no better than one that keeps less. The set is not
unique, and a smaller one may exist.

Shapes: N nodes, M members, E edits, P passes.

References:
    Wang et al., "Interpretability in the Wild" (2023): faithfulness, completeness, minimality.
    Conmy et al., "Towards Automated Circuit Discovery" (2023).
    Hanna, Pezzelle & Belinkov, "Have Faith in Faithfulness" (2024), for the order by edge.
    Mueller et al., "MIB: A Mechanistic Interpretability Benchmark" (2025): CPR and CMD.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from model.analysis.ablation import AblationValues, Character, mean_values
from model.analysis.contrasts import CleanRun, Edit
from model.analysis.effect_estimates import attribution_patching
from model.analysis.saving import Result
from model.analysis.statistics import p_value
from model.correction.answers import Network
from model.trace.interventions import COMPUTED, Contrast, Node, Patch

GOAL = 0.9  # share of the score that the circuit should keep
RANDOM_SETS = 200  # so that a p-value can be as low as 1/201
ROUNDING = 1e-4  # of a share: nearer ones are equal
REDRAWN = 20  # times, where a random set is that of the members
BEYOND = 6  # steps of ``growth`` behind the one that reaches the goal
Nodes = tuple[Node, ...]
FORWARD, BACKWARD, BY_EDGE = ORDERS = "forward", "backward", "by edge"
TRIED = 5, 3  # nodes that a step forward tries: by their last gain, by their effect
SLACK = 4  # sets larger than the smallest that holds, from which the order backward starts
BLOCKS = 0.5, 0.25, 0.12, 0.06  # of the members, which a step backward tries to drop together


@dataclass(frozen=True)
class Circuit(Result):
    """The members, and the measurements that select and judge them.

    Shares are of the score that all nodes add together: 0 is the network with all of them ablated, 1 the
    network itself. Where all nodes together add less than ``Edit.least``, no circuit exists: there are no
    members, and all shares are NaN.
    """

    contrast: Contrast  # of the first edit
    edits: int  # over which scores are averaged
    goal: float
    reference: str  # of the ablation values, such as "mean of 46 sentences"
    order: str  # the one of ORDERS that led to the members
    score: float  # of the whole network, in nats
    empty: float  # with all nodes ablated
    nodes: tuple[Node, ...]  # (N,) those with the largest effect first
    effects: np.ndarray  # (N,) float32 nats: the loss of the score without this node alone
    growth: np.ndarray  # (N,) float32: the shares of the first 1, 2, … of ``nodes``
    members: tuple[Node, ...]  # (M,) in the order in which data passes them
    faithfulness: float  # the share that the members keep
    completeness: float  # the share that is left when the members alone are ablated
    without: np.ndarray  # (M,) float32: the share that the members keep without each of them
    random: np.ndarray  # (RANDOM_SETS,) float32: the shares of random sets of as many nodes of each kind

    @property
    def p(self) -> float:
        """The p-value against ``random``: the share of sets, this one counted, no farther from 1 than it."""
        return p_value(-np.abs(1 - self.random), -abs(1 - self.faithfulness) - ROUNDING)

    @property
    def is_telling(self) -> bool:
        """Whether the nodes add enough to the score that a circuit exists."""
        return bool(np.isfinite(self.faithfulness))

    @property
    def is_minimal(self) -> bool:
        """Whether each member is needed for the goal; False where no circuit exists."""
        return bool(self.members) and not holds(self.without, self.goal).any()

    @property
    def kept(self) -> float:
        """The score of the members alone, in nats."""
        return self.empty + self.faithfulness * (self.score - self.empty)

    @property
    def gap(self) -> float:
        """|F(M) - F(C)| of Wang et al. (2023) in nats: the distance of the circuit's score from the whole."""
        return abs(1 - self.faithfulness) * (self.score - self.empty)

    @property
    def cpr(self) -> float:
        """The circuit performance ratio of MIB: the area under ``growth`` (N,) over the kept share."""
        return self._area(np.array([0, *self.growth]))

    @property
    def cmd(self) -> float:
        """The circuit-model distance of MIB: the area of |1 - share| over ``growth`` (N,), 0 at best."""
        return self._area(np.abs(1 - np.array([0, *self.growth])))

    def _area(self, shares: np.ndarray) -> float:
        return float(np.trapezoid(shares)) / len(self.growth)


def holds(shares: np.ndarray, goal: float) -> np.ndarray:
    """Whether sets keep the score: shares in ``goal``..2 - ``goal``, since one above 1 is no success.

    >>> holds(np.array([0.8, 0.95, 1.3]), goal=0.9).tolist()
    [False, True, False]
    """
    return np.abs(1 - shares) <= 1 - goal


def find_circuit(
    corrector: Network, edit: Edit, goal: float = GOAL, ablation: AblationValues | None = None
) -> Circuit:
    """Find the circuit of one edit: the smallest of the sets to which several orders lead.

    Args:
        goal: the share of the score that the members should keep.
        ablation: the values of ablated nodes, by default ``mean_values``.

    Raises:
        ValueError: as ``contrast_of_edit`` does, and for a network without a residual stream.

    Example:
        >>> circuit = find_circuit(corrector, *edits_of("머거요", "먹어요"))
        >>> len(circuit.members) < len(circuit.nodes), circuit.faithfulness >= 0.9, circuit.is_minimal
        (True, True, True)
    """
    return _found(NodeSets([(CleanRun(corrector, edit), ablation or _means_of(corrector, edit))]), goal)


Ablation = Callable[[Edit], AblationValues]


def find_common_circuit(
    corrector: Network, edits: Sequence[Edit], goal: float = GOAL, ablation: Ablation | None = None
) -> Circuit:
    """Find one circuit of several edits, such as those of one kind of mistake.

    Scores are means over the edits, so shares are of the mean score. ``faithfulness`` measures the circuit on
    each edit, and on others that were held out.

    Args:
        ablation: the values of ablated nodes for each edit, by default ``mean_values``.

    Raises:
        ValueError: without edits, and as ``find_circuit`` does.

    Example:
        >>> edits = [*edits_of("머거요", "먹어요"), *edits_of("바비 조아", "밥이 좋아")]
        >>> circuit = find_common_circuit(corrector, edits[:2])
        >>> circuit.edits, faithfulness(corrector, edits, circuit.members).shape
        (2, (3,))
    """
    if not edits:
        raise ValueError("a common circuit should have at least one edit, received none")
    values = ablation or partial(_means_of, corrector)
    return _found(NodeSets([(CleanRun(corrector, each), values(each)) for each in edits]), goal)


def faithfulness(
    corrector: Network, edits: Sequence[Edit], members: Sequence[Node], ablation: Ablation | None = None
) -> np.ndarray:
    """(E,) float64: the share of each edit's score that the members keep; NaN where no circuit exists.

    Args:
        ablation: a function that gives the values of an edit's other parts, as ``reference_values`` does;
            its means without one. A circuit that was searched with other values keeps another share here.
    """
    values, found = ablation or partial(_means_of, corrector), []
    for each in edits:
        sets = NodeSets([(CleanRun(corrector, each), values(each))])
        sets.scale(float(sets.scores(sets.nodes, [()])[0]))
        found.append(sets.shares(members, [()])[0])
    return np.array(found)


def _means_of(corrector: Network, edit: Edit) -> AblationValues:
    return mean_values(corrector, edit.source, edit.target)


def _found(sets: "NodeSets", goal: float) -> Circuit:
    """The circuit of the mean score over the edits of ``sets``."""
    every = sets.nodes
    score, *lost = sets.scores(every, [(), *((node,) for node in every)])
    effects = score - np.array(lost)
    order = np.argsort(-effects, kind="stable")
    nodes, members, found = tuple(every[i] for i in order), Nodes(), BACKWARD
    sets.scale(float(score))
    growth = sets.shares((), [nodes[: count + 1] for count in range(len(nodes))])
    if np.isfinite(growth).all():
        members, found = _smallest(sets, nodes, growth, goal)
    members = tuple(sorted(members, key=every.index))
    rng = np.random.default_rng(0)
    random = [_of_the_same_kinds(members, every, rng) for _ in range(RANDOM_SETS)]
    alone, without = sets.shares(every, [members]), sets.shares(members, [(), *((node,) for node in members)])
    return Circuit(
        contrast=sets.runs[0][0].contrast,
        edits=len(sets.runs),
        goal=goal,
        reference=sets.runs[0][1].reference,
        order=found,
        score=float(score),
        empty=sets.empty,
        nodes=nodes,
        effects=effects[order].astype(np.float32),
        growth=growth.astype(np.float32),
        members=members,
        faithfulness=float(without[0]),
        completeness=float(alone[0]),
        without=without[1:].astype(np.float32),
        random=sets.shares((), random).astype(np.float32),
    )


class NodeSets:
    """Scores of passes in which a set of nodes is kept and all others are ablated; means over edits."""

    def __init__(self, runs: Sequence[tuple[CleanRun, AblationValues]]):
        self.runs, self.nodes = runs, runs[0][0].network.nodes
        self.empty, self._added = float(self.scores((), [()])[0]), 1.0

    def scale(self, score: float) -> None:
        """Measure shares between the empty set and this score of all nodes; NaN where they are too near."""
        added = score - self.empty
        self._added = added if added >= self.runs[0][0].edit.least else np.nan

    def scores(self, base: Collection[Node], turned: Sequence[Collection[Node]]) -> np.ndarray:
        """(P,) float64 scores of ``base`` with its members in each of ``turned`` ablated, and others kept.

        Passes near that of ``base`` are computed only where they differ from it.
        """
        removed = [[node for node in some if node in base] for some in turned]
        added = [[Patch.of(node, COMPUTED) for node in some if node not in base] for some in turned]
        outside = [node for node in self.nodes if node not in base]
        found = []
        for run, ablation in self.runs:
            variations = [(*ablation.patches(r), *a) for r, a in zip(removed, added, strict=True)]
            found.append(run.scores(variations, ablation.patches(outside)))
        return np.mean(found, axis=0)

    def shares(self, base: Collection[Node], turned: Sequence[Collection[Node]]) -> np.ndarray:
        """(P,): the same scores as shares; NaN where no circuit exists."""
        return (self.scores(base, turned) - self.empty) / self._added


def _smallest(sets: NodeSets, nodes: Nodes, growth: np.ndarray, goal: float) -> tuple[Nodes, str]:
    """The smallest of the sets to which the orders lead, and its order.

    ``nodes``: (N,) by their effect; ``growth``: (N,) the shares of the first ones, to be started from.
    """
    near = growth[: len(nodes) // 2]  # half of the nodes, where fewer reach the goal
    enough = np.flatnonzero(holds(near if holds(near[:-BEYOND], goal).any() else growth, goal))
    # A set with some slack, because the smallest one that holds leaves no choice of members to drop.
    start = enough[min(SLACK, len(enough) - 1)] + 1 if enough.size else len(nodes)
    found = {BACKWARD: _pruned(sets, nodes[:start], goal)}
    if enough.size and enough[0] < len(found[BACKWARD]):
        found[BACKWARD] = _pruned(sets, nodes[: enough[0] + 1], goal)
    # The first set that reaches the goal may keep more than the whole network until some parts go.
    high = np.flatnonzero(growth >= goal)
    if high.size and not holds(growth[high[0]], goal):
        pruned = _pruned(sets, nodes[: high[0] + 1], goal, enough=np.greater_equal)
        if len(pruned) < len(found[BACKWARD]) and holds(sets.shares((), [pruned]), goal)[0]:
            found[BACKWARD] = pruned
    if forward := _forward(sets, nodes, len(found[BACKWARD]) - 1, goal):
        found[FORWARD] = _pruned(sets, forward, goal)
    if connected := _by_edge(sets, nodes, goal):
        found[BY_EDGE] = _pruned(sets, connected, goal)
    best = min(found, key=lambda order: len(found[order]))
    return found[best], best


def _forward(sets: NodeSets, nodes: Nodes, most: int, goal: float) -> Nodes:
    """Add the two nodes that bring the share nearest to 1, step by step.

    No nodes where ``most`` do not suffice, or where half as many keep less than a quarter of the goal.
    """
    kept: Nodes = ()
    gains = dict(zip(nodes, sets.shares((), [(node,) for node in nodes]), strict=True))
    while len(kept) < most:
        rest = [node for node in nodes if node not in kept]
        tried = sorted(rest, key=lambda node: -gains[node])[: TRIED[0]]
        tried += [node for node in rest if node not in tried][: TRIED[1]]
        share, *shares = sets.shares(kept, [(), *((node,) for node in tried)])
        gains |= {node: each - share for node, each in zip(tried, shares, strict=True)}
        if len(kept) >= most / 2 and share < goal / 4:
            return ()
        first, second = np.abs(1 - np.array(shares)).argsort(kind="stable")[:2]
        if holds(shares[first], goal):
            return (*kept, tried[first])
        kept = (*kept, tried[first], tried[second])
    return kept if holds(sets.shares(kept, [()]), goal)[0] else ()


def _by_edge(sets: NodeSets, nodes: Nodes, goal: float) -> Nodes:
    """The nodes that the largest estimated edges connect with the answer, as few as keep the share.

    No nodes where none do, and for a network whose gradients are not known.
    """
    sums: dict[tuple[Node | Character, Node | None], float] = defaultdict(float)
    try:
        for run, ablation in sets.runs:
            for sender, receiver, nats in attribution_patching(run.corrector, run.edit, ablation).edges:
                sums[sender, receiver] += nats
    except ValueError:
        return ()
    edges = sorted(sums, key=lambda ends: -abs(sums[ends]))
    connected, grown = set[Node | Character | None]([None]), list[Nodes]()
    for count, (sender, receiver) in enumerate(edges, start=1):
        if receiver in connected and sender not in connected:
            while new := {one for one, other in edges[:count] if other in connected} - connected:
                connected |= new
            grown.append(tuple(node for node in nodes if node in connected))
    enough = np.flatnonzero(holds(sets.shares((), grown), goal))
    return grown[enough[0]] if enough.size else ()


Enough = Callable[[np.ndarray, float], np.ndarray]


def _pruned(sets: NodeSets, members: Nodes, goal: float, enough: Enough = holds) -> Nodes:
    """``members`` without those that the goal does not need, the least needed first, several at a time."""
    ranked = members[::-1]
    while len(members) > 1:
        sizes = sorted({int(len(members) * block) for block in BLOCKS} - {0, 1})
        blocks = [ranked[:size] for size in sizes] + [(node,) for node in members]
        found = sets.shares(members, blocks)
        spares = enough(found, goal)
        order = np.lexsort((np.abs(1 - found[len(sizes) :]), ~spares[len(sizes) :]))
        ranked, spare = tuple(members[at] for at in order), np.flatnonzero(spares)
        if not spare.size:
            return members
        dropped = blocks[max(spare[spare < len(sizes)])] if spare[0] < len(sizes) else ranked[:1]
        members, ranked = (tuple(n for n in some if n not in dropped) for some in (members, ranked))
    return members


def _of_the_same_kinds(members: Nodes, nodes: Nodes, rng: np.random.Generator) -> Nodes:
    """Random nodes, as many of each kind as there are among ``members``; another set where one comes up."""
    counts, found = Counter(node.kind for node in members), list[Node]()
    for _ in range(REDRAWN):
        found = []
        for kind, count in counts.items():
            some = [node for node in nodes if node.kind == kind]
            found += [some[i] for i in rng.choice(len(some), count, replace=False)]
        if {*found} != {*members}:
            break
    return tuple(found)
