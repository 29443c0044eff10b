"""Circuit of a correction, its edges by path patching, its attribution graph as JSON.

A circuit is a set of nodes (heads and feed-forward networks of both sides) that keeps a share of the score,
log p(fix) - log p(keep) in nats, while all other nodes are ablated (``patching``). Two greedy orders look for
one: backward, from the nodes with the largest effects (the loss of the score when each alone is ablated), and
forward, from no nodes. From both, members that the goal does not need are dropped, and the smaller set wins;
each step is verified by a pass. A set that keeps more than the whole network is no better than one that keeps
less. The set is not unique, and a smaller one may exist.

An edge is the loss of the score when one receiver does not read one sender: the receiver is computed again
from the stream without the sender, all its other inputs stay, and what follows the receiver is computed anew.
Nodes outside of the circuit stay ablated. This is exact for each edge.

The graph has the format of the library circuit-tracer, which Neuronpedia's schema of attribution graphs
describes: metadata, nodes, links. Their nodes are features and their weights linear attributions; ours are
heads and feed-forward networks, and effects of interventions in nats.

Shapes: N nodes, M members, S source and T target tokens, Q query and K key positions, D d_model, E senders.

References:
    Wang et al., "Interpretability in the Wild" (2023): faithfulness, completeness, minimality; section 3.1
        for edges.
    Conmy et al., "Towards Automated Circuit Discovery" (2023).
    Goldowsky-Dill et al., "Localizing Model Behavior with Path Patching" (2023).
    Ameisen et al., "Circuit Tracing" (2025).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from model.activations.sublayers import Stream
from model.activations.walk import ActivationWalk
from model.analysis.contrasts import CleanRun, Edit
from model.analysis.patching import AblationValues, mean_values
from model.correction.answers import Network
from model.trace.interventions import ATTENTIONS, COMPUTED, Contrast, Node, Patch, tap
from model.trace.trace import AttentionTrace

GOAL = 0.9  # share of the score that the circuit should keep
RANDOM_SETS = 20
BEYOND = 6  # steps of ``growth`` behind the one that reaches the goal
LEAST_SCORE = 0.5  # nats that all nodes together should add; else no circuit exists
FAINT = 0.05  # nats below which an edge is left out of a picture
SCHEMA_VERSION = 1
Nodes = tuple[Node, ...]
FORWARD, BACKWARD = ORDERS = "forward", "backward"
TRIED = 5, 3  # nodes that a step forward tries: by their last gain, by their effect
SLACK = 4  # sets larger than the smallest that holds, from which the order backward starts
BLOCKS = 0.5, 0.25, 0.12, 0.06  # of the members, which a step backward tries to drop together
_EDGE_TAPS = tuple(
    name
    for side, kinds in ATTENTIONS.items()
    for name in (
        *(tap(side, part) for part in ("embedding", "residual", "output")),
        *(tap(k, "heads") for k in kinds),
    )
)


@dataclass(frozen=True)
class Circuit:
    """The members, and the measurements that select and judge them.

    Shares are of the score that all nodes add together: 0 is the network with all of them ablated, 1 the
    network itself. Where all nodes together add less than LEAST_SCORE, no circuit exists: there are no
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
    growth: (
        np.ndarray
    )  # (G,) float32: the shares of the first 1, 2, … of ``nodes``, until half or all are kept
    members: tuple[Node, ...]  # (M,) in the order in which data passes them
    faithfulness: float  # the share that the members keep
    completeness: float  # the share that is left when the members alone are ablated
    without: np.ndarray  # (M,) float32: the share that the members keep without each of them
    random: np.ndarray  # (RANDOM_SETS,) float32: the shares of random sets of as many nodes of each kind

    @property
    def is_telling(self) -> bool:
        """Whether the nodes add at least LEAST_SCORE nats to the score, so that a circuit exists."""
        return self.score - self.empty >= LEAST_SCORE

    @property
    def is_minimal(self) -> bool:
        """Whether each member is needed for the goal; False where no circuit exists."""
        return bool(self.members) and not holds(self.without, self.goal).any()

    @property
    def gap(self) -> float:
        """|F(M) - F(C)| of Wang et al. (2023) in nats: the distance of the circuit's score from the whole."""
        return abs(1 - self.faithfulness) * (self.score - self.empty)


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
    """(E,) float64: the share of each edit's score that the members keep; NaN where no circuit exists."""
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
    prefixes = [nodes[: count + 1] for count in range(len(nodes))]
    growth = sets.shares((), prefixes[: len(nodes) // 2])
    if not holds(growth[:-BEYOND], goal).any():
        growth = np.concatenate([growth, sets.shares((), prefixes[len(nodes) // 2 :])])
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
        self._added = added if added >= LEAST_SCORE else np.nan

    def scores(self, base: Collection[Node], turned: Sequence[Collection[Node]]) -> np.ndarray:
        """(N,) float64 scores of ``base`` with its members in each of ``turned`` ablated, and others kept.

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
        """(N,): the same scores as shares; NaN where no circuit exists."""
        return (self.scores(base, turned) - self.empty) / self._added


def _smallest(sets: NodeSets, nodes: Nodes, growth: np.ndarray, goal: float) -> tuple[Nodes, str]:
    """The smaller of the sets to which the two orders lead, and its order.

    ``nodes``: (N,) by their effect; ``growth``: (G,) the shares of the first ones, to be started from.
    """
    enough = np.flatnonzero(holds(growth, goal))
    # A set with some slack, because the smallest one that holds leaves no choice of members to drop.
    start = enough[min(SLACK, len(enough) - 1)] + 1 if enough.size else len(nodes)
    found = {BACKWARD: _pruned(sets, nodes[:start], goal)}
    if enough.size and enough[0] < len(found[BACKWARD]):
        found[BACKWARD] = _pruned(sets, nodes[: enough[0] + 1], goal)
    if forward := _forward(sets, nodes, len(found[BACKWARD]) - 1, goal):
        found[FORWARD] = _pruned(sets, forward, goal)
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


def _pruned(sets: NodeSets, members: Nodes, goal: float) -> Nodes:
    """``members`` without those that the goal does not need, the least needed first, several at a time."""
    ranked = members[::-1]
    while len(members) > 1:
        sizes = sorted({int(len(members) * block) for block in BLOCKS} - {0, 1})
        blocks = [ranked[:size] for size in sizes] + [(node,) for node in members]
        found = sets.shares(members, blocks)
        ranked = tuple(members[at] for at in np.abs(1 - found[len(sizes) :]).argsort(kind="stable"))
        spare = np.flatnonzero(holds(found, goal))
        if not spare.size:
            return members
        dropped = blocks[max(spare[spare < len(sizes)])] if spare[0] < len(sizes) else ranked[:1]
        members, ranked = (tuple(n for n in some if n not in dropped) for some in (members, ranked))
    return members


def _of_the_same_kinds(members: Nodes, nodes: Nodes, rng: np.random.Generator) -> Nodes:
    """Random nodes, as many of each kind as there are among ``members``; another set where one comes up."""
    counts, found = Counter(node.kind for node in members), list[Node]()
    for _ in range(RANDOM_SETS):
        found = []
        for kind, count in counts.items():
            some = [node for node in nodes if node.kind == kind]
            found += [some[i] for i in rng.choice(len(some), count, replace=False)]
        if {*found} != {*members}:
            break
    return tuple(found)


class Character(NamedTuple):
    """A character that was read: of the source, or of the text before the row, whose first is the start mark.

    >>> Character("encoder", 1).position
    1
    """

    side: str  # "encoder" or "decoder"
    position: int


class Edge(NamedTuple):
    """The loss of the score when the receiver does not read the sender."""

    sender: Node | Character
    receiver: Node | None  # None: the answer itself
    nats: float  # positive in favour of the fix


@dataclass(frozen=True)
class CircuitEdges:
    """All edges between characters, members and the answer, those of one receiver together."""

    score: float  # of the circuit, in nats
    edges: tuple[Edge, ...]

    def largest(self, count: int) -> tuple[Edge, ...]:
        """At most ``count`` edges of at least FAINT nats, the largest first."""
        ranked = sorted(self.edges, key=lambda edge: -abs(edge.nats))
        return tuple(edge for edge in ranked[:count] if abs(edge.nats) >= FAINT)


def circuit_edges(
    corrector: Network, edit: Edit, circuit: Circuit, ablation: AblationValues | None = None
) -> CircuitEdges:
    """Measure the edges of a circuit.

    Args:
        circuit: of ``find_circuit`` for the same edit.
        ablation: the one with which it was found, by default ``mean_values``.

    Example:
        >>> (edit,) = edits_of("머거요", "먹어요")
        >>> circuit = find_circuit(corrector, edit)
        >>> found = circuit_edges(corrector, edit, circuit)
        >>> {edge.receiver for edge in found.edges} == {*circuit.members, None}
        True
    """
    run = CleanRun(corrector, edit)
    values = ablation or mean_values(corrector, edit.source, edit.target)
    base = values.patches(node for node in run.network.nodes if node not in circuit.members)
    paths = _Paths(run.network, run.taps(_EDGE_TAPS, base), values, circuit.members)
    cuts = [
        (sender, receiver, patch)
        for receiver in (*circuit.members, None)
        for sender, patch in paths.cut(receiver)
    ]
    variations = [(), *((patch,) for *_, patch in cuts)]
    score, *scores = run.scores(variations, base)
    edges = zip(cuts, scores, strict=True)
    return CircuitEdges(float(score), tuple(Edge(*cut[:2], float(score - less)) for cut, less in edges))


class _Paths:
    """The outputs of each receiver without each of its senders, in one pass of the circuit."""

    def __init__(
        self,
        network: ActivationWalk,
        found: dict[str, np.ndarray],
        ablation: AblationValues,
        members: Sequence[Node],
    ):
        self._network, self._found, self._members = network, found, members
        self._missing: dict[Node | Character, np.ndarray] = {}  # (Q, D) that ablating it adds to the stream
        for node in members:
            self._missing[node] = network.written(node, ablation.nodes[node] - found[node.tap][node.place])
        for side in ATTENTIONS:
            lost = ablation.embeddings[side] - found[tap(side, "embedding")]
            for position in range(len(lost)):
                only = np.zeros_like(lost)
                only[position] = lost[position]
                self._missing[Character(side, position)] = only

    def cut(self, receiver: Node | None) -> Iterator[tuple[Node | Character, Patch]]:
        """Each sender, and the patch of the receiver's output without the sender."""
        if receiver is None:
            yield from self._cut_from_answer()
            return
        here = self._senders(receiver.side, receiver.sublayer)
        streams = self._streams(receiver.side, receiver.sublayer, here)  # (E, Q, D)
        memory = None
        if receiver.kind == "cross_attention":
            end = self._found[tap("encoder", "output")].shape[0]
            there = self._senders("encoder", end)
            plain = self._found[tap("decoder", "residual")][receiver.sublayer]
            encoded = self._found[tap("encoder", "residual")][end]
            read = [np.repeat(encoded[None], len(here), axis=0), self._streams("encoder", end, there)]
            streams = np.concatenate([streams, np.repeat(plain[None], len(there), axis=0)])
            memory = self._network.close("encoder", np.concatenate(read))
            here = [*here, *there]
        for sender, output in zip(here, self._outputs(receiver, streams, memory), strict=True):
            yield sender, Patch.of(receiver, output)

    def _cut_from_answer(self) -> Iterator[tuple[Node | Character, Patch]]:
        """The answer is read at the last position of the stream's end."""
        end = self._found[tap("decoder", "output")].shape[0]
        last = len(self._found[tap("decoder", "embedding")]) - 1
        senders = [
            each
            for each in self._senders("decoder", end)
            if not isinstance(each, Character) or each.position == last
        ]
        for sender, stream in zip(senders, self._streams("decoder", end, senders), strict=True):
            yield sender, Patch(tap("decoder", "residual"), end, stream[last], last)

    def _senders(self, side: str, sublayer: int) -> list[Node | Character]:
        """The characters and members that write to the stream of ``side`` before this sub-layer."""
        characters = [each for each in self._missing if isinstance(each, Character) and each.side == side]
        return [
            *characters,
            *(node for node in self._members if node.side == side and node.sublayer < sublayer),
        ]

    def _streams(self, side: str, sublayer: int, senders: Sequence[Node | Character]) -> np.ndarray:
        """(E, Q, D): the stream at a place without each sender."""
        stream = Stream(side, *(self._found[tap(side, part)] for part in ("residual", "output")))
        found = []
        for each in senders:
            begin = None if isinstance(each, Character) else each.sublayer
            found.append(self._network.resumed(stream, sublayer, begin, self._missing[each]))
        return np.stack(found) if found else np.zeros((0, *stream.residual.shape[1:]), np.float32)

    def _outputs(self, node: Node, streams: np.ndarray, memory: np.ndarray | None) -> np.ndarray:
        """(E, Q, D/H) of a head or (E, Q, D) of a feed-forward network that reads ``streams`` (E, Q, D)."""
        if not len(streams):
            return streams
        entered = self._network.enter(node.kind, node.layer, streams)
        if node.head is None:
            return self._network.feed_forward(node.side, node.layer, entered)
        read = entered if memory is None else memory
        projected = self._network.projected(node.kind, node.layer, entered, read)
        query, key, value = (each[:, node.head] for each in projected)
        return self._network.weights(node.kind, query, key, node.head) @ value


def attribution_graph(
    circuit: Circuit,
    edges: CircuitEdges,
    trace: AttentionTrace,
    model: str,
    names: Mapping[Node, str] | None = None,
) -> dict[str, object]:
    """Write a circuit as an attribution graph for public viewers.

    Args:
        trace: of the same texts. The prompt is its source tokens and the tokens that the decoder has read.
        model: the name of the network.
        names: labels of nodes.

    Raises:
        ValueError: for a trace without probabilities.

    Example:
        >>> (edit,) = edits_of("머거요", "먹어요")
        >>> circuit = find_circuit(corrector, edit)
        >>> edges = circuit_edges(corrector, edit, circuit)
        >>> graph = attribution_graph(circuit, edges, corrector.trace("머거요", "먹어요"), "transformer")
        >>> sorted(graph), graph["nodes"][-1]["clerp"]
        (['links', 'metadata', 'nodes', 'qParams'], 'Output "먹" (p=0.999), not "머"')
    """
    if trace.log_probabilities is None:
        raise ValueError("an attribution graph needs a trace with probabilities")
    contrast, layers = circuit.contrast, trace.num_layers
    row = contrast.row + max(trace.prompt - 1, 0)  # behind the prompt of a decoder alone
    probability = float(np.exp(trace.log_probabilities[row]))
    prompt = [*trace.source_tokens, *trace.decoder_input_tokens[: row + 1]]
    last, shift = len(prompt) - 1, len(trace.source_tokens)
    nodes: dict[Node | Character | None, dict[str, object]] = {}
    characters = {edge.sender for edge in edges.edges if isinstance(edge.sender, Character)}
    for each in sorted(characters, key=lambda each: (each.side != "encoder", each.position)):
        at = each.position + shift * (each.side == "decoder")
        nodes[each] = _graph_node(("E", at, at), "embedding", prompt[at], at)
    for number, node in enumerate(circuit.members):
        layer = node.layer + layers * (node.side == "decoder")
        kind = "feed-forward network" if node.head is None else "attention head"
        label = (names or {}).get(node, _name(node))
        nodes[node] = _graph_node((layer, number, last), kind, label, _pair(layer, number))
    # Viewers read the token between the quotation marks and the number behind "(p=".
    answer = f'Output "{contrast.written_token}" (p={probability:.3f}), not "{contrast.instead_token}"'
    nodes[None] = _graph_node((2 * layers + 1, contrast.written, last), "logit", answer, contrast.written)
    nodes[None] |= {"is_target_logit": True, "token_prob": probability}
    ids = {place: node["node_id"] for place, node in nodes.items()}
    return {
        "metadata": {
            "slug": f"{model}-{contrast.row + 1}",
            "scan": model,
            "transcoder_list": [],
            "prompt_tokens": prompt,
            "prompt": "".join(prompt),
            "schema_version": SCHEMA_VERSION,
        },
        "qParams": {"pinnedIds": [], "supernodes": [], "linkType": "both", "clickedId": "", "sg_pos": ""},
        "nodes": list(nodes.values()),
        "links": [
            {"source": ids[edge.sender], "target": ids[edge.receiver], "weight": edge.nats}
            for edge in edges.edges
        ],
    }


def _name(node: Node) -> str:
    head = "" if node.head is None else f"_{node.head + 1}"
    return f"{node.kind}_{node.layer + 1}{head}"


def _graph_node(place: tuple[int | str, int, int], kind: str, label: str, feature: int) -> dict[str, object]:
    """``place``:

    layer, number, position. Viewers merge nodes of one layer, ``feature`` and position, so numbers keep them
    apart.
    """
    layer, number, position = place
    return {
        "node_id": f"{layer}_{number}_{position}",
        "jsNodeId": f"{layer}_{number}-0",
        "feature": feature,
        "layer": str(layer),
        "ctx_idx": position,
        "feature_type": kind,
        "is_target_logit": False,
        "clerp": label,
    }


def _pair(one: int, other: int) -> int:
    """Cantor's pairing function, by which viewers of schema version 1 take a feature's number apart.

    >>> _pair(0, 0), _pair(0, 1), _pair(1, 0)
    (0, 2, 1)
    """
    return (one + other) * (one + other + 1) // 2 + other
