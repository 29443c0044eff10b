"""The circuit of a correction, its edges by path patching, and its attribution graph as JSON."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.activations.walk import PatchedTransformer
from model.analysis.counterfactuals import contrast_of_change
from model.analysis.patching import AblationValues, mean_values
from model.correction.answers import Network
from model.text.changes import Change
from model.trace.interventions import ATTENTIONS, Contrast, Node, Patch, tap

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


FAINT = 0.05  # nats below which an edge is not worth its place in a picture
_TAPS = tuple(
    name
    for side, kinds in ATTENTIONS.items()
    for name in (
        *(tap(side, part) for part in ("embedding", "residual", "output")),
        *(tap(k, "heads") for k in kinds),
    )
)


class Character(NamedTuple):
    """A character that was read: of the source, or among those that the decoder had written, whose first is the start mark.

    >>> Character("encoder", 1).position
    1
    """

    side: str  # "encoder" or "decoder"
    position: int


class Edge(NamedTuple):
    """How much of the score is lost when the receiver does not read what the sender writes."""

    sender: Node | Character
    receiver: Node | None  # None: the answer itself
    nats: float  # more than 0 speaks for the fix


@dataclass(frozen=True)
class CircuitEdges:
    """All edges between characters, members and the answer, those that go to the same receiver together."""

    score: float  # of the circuit, in nats
    edges: tuple[Edge, ...]

    def largest(self, count: int) -> tuple[Edge, ...]:
        """At most ``count`` edges that are not ``FAINT``, the largest first."""
        ranked = sorted(self.edges, key=lambda edge: -abs(edge.nats))
        return tuple(edge for edge in ranked[:count] if abs(edge.nats) >= FAINT)


def circuit_edges(
    corrector: Network, source: str, target: str, circuit: Circuit, ablation: AblationValues | None = None
) -> CircuitEdges:
    """The edges of a circuit that ``circuits.find_circuit`` found for the same texts, with the same ``ablation``.

    >>> from model.analysis.circuits import find_circuit
    >>> from model.text.changes import find_changes
    >>> circuit = find_circuit(corrector, "머거요", "먹어요", *find_changes("머거요", "먹어요"))
    >>> found = circuit_edges(corrector, "머거요", "먹어요", circuit)
    >>> {edge.receiver for edge in found.edges} == {*circuit.members, None}
    True
    """
    network, contrast = corrector.patched, circuit.contrast
    ids = (
        corrector.tokenizer.encode_source(source),
        corrector.tokenizer.encode_target(target)[: contrast.row + 1],
    )
    ablation = ablation or mean_values(corrector, source, target)
    everything = network.nodes
    base = ablation.patches(node for node in everything if node not in circuit.members)
    paths = _Paths(network, network.taps(*ids, _TAPS, base), ablation, circuit.members)
    named, patches = [], []
    for receiver in (*circuit.members, None):
        for sender, patch in paths.cut(receiver):
            named.append((sender, receiver))
            patches.append((patch,))
    score, *scores = network.passes(*ids, [(), *patches], base).score(contrast.written, contrast.instead)
    edges = zip(named, scores, strict=True)
    return CircuitEdges(float(score), tuple(Edge(*pair, float(score - less)) for pair, less in edges))


class _Paths:
    """What each receiver would put out without each of its senders, in one pass of the circuit."""

    def __init__(
        self,
        network: PatchedTransformer,
        found: dict[str, np.ndarray],
        ablation: AblationValues,
        members: Sequence[Node],
    ):
        self._network, self._found, self._members = network, found, members
        self._missing: dict[Node | Character, np.ndarray] = {}  # what has to be added to the stream, (Q, D)
        for node in members:
            lost = ablation.nodes[node] - found[node.tap][node.place]
            self._missing[node] = network.written(node, lost)
        for side in ATTENTIONS:
            embedding = found[tap(side, "embedding")]
            lost = ablation.embeddings[side] - embedding
            for position in range(len(embedding)):
                only = np.zeros_like(embedding)
                only[position] = lost[position]
                self._missing[Character(side, position)] = only

    def cut(self, receiver: Node | None) -> Iterator[tuple[Node | Character, Patch]]:
        """Each sender, and the patch that puts in the receiver's place what it is without the sender."""
        if receiver is None:
            yield from self._cut_from_answer()
            return
        here = self._senders(receiver.side, receiver.sublayer)
        streams = self._streams(receiver.side, receiver.sublayer, here)  # (E, Q, D)
        if receiver.kind == "cross_attention":
            end = self._found[tap("encoder", "output")].shape[0]
            there = self._senders("encoder", end)
            plain = self._found[tap("decoder", "residual")][receiver.sublayer]
            memory = self._found[tap("encoder", "residual")][end]
            ends = self._streams("encoder", end, there)
            streams = np.concatenate([streams, np.repeat(plain[None], len(there), axis=0)])
            read = np.concatenate([np.repeat(memory[None], len(here), axis=0), ends])
            outputs = self._outputs(receiver, streams, self._network.close("encoder", read))
            here = [*here, *there]
        else:
            outputs = self._outputs(receiver, streams, None)
        for sender, output in zip(here, outputs, strict=True):
            yield sender, Patch.of(receiver, output)

    def _cut_from_answer(self) -> Iterator[tuple[Node | Character, Patch]]:
        """The answer is read at the last position of the stream's end."""
        end = self._found[tap("decoder", "output")].shape[0]
        senders = self._senders("decoder", end)
        last = len(self._found[tap("decoder", "embedding")]) - 1
        senders = [each for each in senders if not isinstance(each, Character) or each.position == last]
        for sender, stream in zip(senders, self._streams("decoder", end, senders), strict=True):
            yield sender, Patch(tap("decoder", "residual"), end, stream[last], last)

    def _senders(self, side: str, sublayer: int) -> list[Node | Character]:
        """What writes to the stream of ``side`` before this sub-layer."""
        characters = [each for each in self._missing if isinstance(each, Character) and each.side == side]
        return [
            *characters,
            *(node for node in self._members if node.side == side and node.sublayer < sublayer),
        ]

    def _streams(self, side: str, sublayer: int, senders: Sequence[Node | Character]) -> np.ndarray:
        """(E, Q, D): the stream at a place without each sender."""
        residual, output = (self._found[tap(side, part)] for part in ("residual", "output"))
        found = [
            self._network.resumed(
                side,
                residual,
                output,
                sublayer,
                None if isinstance(each, Character) else each.sublayer,
                self._missing[each],
            )
            for each in senders
        ]
        return np.stack(found) if found else np.zeros((0, *residual.shape[1:]), np.float32)

    def _outputs(self, node: Node, streams: np.ndarray, memory: np.ndarray | None) -> np.ndarray:
        """(E, Q, D/H) of a head or (E, Q, D) of a feed-forward network that reads ``streams`` (E, Q, D)."""
        if not len(streams):
            return streams
        entered = self._network.enter(node.kind, node.layer, streams)
        if node.head is None:
            return self._network.feed_forward(node.side, node.layer, entered)
        read = entered if memory is None else memory
        query, key, value = (
            each[:, node.head] for each in self._network.projected(node.kind, node.layer, entered, read)
        )
        return self._network.weights(node.kind, query, key, node.head) @ value


SCHEMA_VERSION = 1


def attribution_graph(
    circuit: Circuit,
    edges: CircuitEdges,
    source_tokens: Sequence[str],
    read_tokens: Sequence[str],
    *,
    layers: int,
    model: str,
    probability: float,
    names: Mapping[Node, str] | None = None,
) -> dict:
    """The graph's prompt is ``source_tokens`` (S,) and then ``read_tokens`` (row + 1,), what the decoder has read up to the row.
    ``probability``: of the character that is written there. ``names``: what nodes are called.

    >>> from model.analysis import circuit_edges, find_circuit
    >>> from model.text.changes import find_changes
    >>> circuit = find_circuit(corrector, "머거요", "먹어요", *find_changes("머거요", "먹어요"))
    >>> edges = circuit_edges(corrector, "머거요", "먹어요", circuit)
    >>> graph = attribution_graph(circuit, edges, "머거요.", "^", layers=4, model="transformer", probability=0.98)
    >>> sorted(graph), graph["nodes"][-1]["clerp"]
    (['links', 'metadata', 'nodes', 'qParams'], 'Output "먹" (p=0.980), not "머"')
    """
    prompt = [*source_tokens, *read_tokens]
    last, shift = len(prompt) - 1, len(source_tokens)
    nodes: dict[Node | Character | None, dict] = {}
    characters = {edge.sender for edge in edges.edges if isinstance(edge.sender, Character)}
    for each in sorted(characters, key=lambda each: (each.side != "encoder", each.position)):
        position = each.position + shift * (each.side == "decoder")
        nodes[each] = _node("E", position, position, "embedding", prompt[position], position)
    for number, node in enumerate(circuit.members):
        layer = node.layer + layers * (node.side == "decoder")
        kind = "feed-forward network" if node.head is None else "attention head"
        label = (names or {}).get(node, _name(node))
        nodes[node] = _node(layer, number, last, kind, label, _pair(layer, number))
    contrast = circuit.contrast
    # Viewers read the token between the quotation marks and the number behind "(p=".
    answer = f'Output "{contrast.written_token}" (p={probability:.3f}), not "{contrast.instead_token}"'
    nodes[None] = _node(2 * layers + 1, contrast.written, last, "logit", answer, contrast.written)
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


def _node(layer: int | str, number: int, position: int, kind: str, label: str, feature: int) -> dict:
    """Viewers take nodes with the same layer, ``feature`` and position for one, so ``number`` and ``feature`` tell a layer's nodes apart."""
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
    """Two numbers as one that tells both (Cantor's pairing function): with schema version 1 viewers take a feature's number apart like this.

    >>> _pair(0, 0), _pair(0, 1), _pair(1, 0)
    (0, 2, 1)
    """
    return (one + other) * (one + other + 1) // 2 + other
