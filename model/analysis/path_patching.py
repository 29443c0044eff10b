"""Edges of a circuit by path patching, and its attribution graph as JSON.

An edge is the loss of the score when one receiver does not read one sender: the receiver is computed again
from the stream without the sender, all its other inputs stay, and what follows the receiver is computed anew.
Nodes outside of the circuit stay ablated. This is exact for each edge.

The graph has the format of the library circuit-tracer, which Neuronpedia's schema of attribution graphs
describes: metadata, nodes, links. Their nodes are features and their weights linear attributions; ours are
heads and feed-forward networks, and effects of interventions in nats.

Shapes: M members, S source and T target tokens, Q query and K key positions, D d_model, E senders.

References:
    Wang et al., "Interpretability in the Wild" (2023), section 3.1.
    Goldowsky-Dill et al., "Localizing Model Behavior with Path Patching" (2023).
    Ameisen et al., "Circuit Tracing" (2025).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.activations.sublayers import Stream
from model.activations.walk import ActivationWalk
from model.analysis.ablation import AblationValues, Character, Edge, mean_values
from model.analysis.circuits import Circuit
from model.analysis.contrasts import CleanRun, Edit
from model.analysis.residual_stream import stream_taps
from model.analysis.saving import Result
from model.correction.answers import Network
from model.trace.interventions import ATTENTIONS, Node, Patch, tap
from model.trace.trace import AttentionTrace

FAINT = 0.05  # nats below which an edge is left out of a picture
SCHEMA_VERSION = 1
_EDGE_TAPS = stream_taps("heads")


@dataclass(frozen=True)
class CircuitEdges(Result):
    """All edges between characters, members and the answer, those of one receiver together."""

    score: float  # of the circuit, in nats
    reference: str  # of the ablation values
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
        >>> from model.analysis import find_circuit
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
    found = tuple(Edge(*cut[:2], float(score - less)) for cut, less in edges)
    return CircuitEdges(float(score), values.reference, found)


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
        >>> from model.analysis import find_circuit
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
