"""The edges of a circuit, by path patching: what one part writes is taken away from what one later part reads, and from nothing else.

It is exact for each edge. The receiver is computed again from the stream as it would be without the sender. All others that the receiver
reads stay as they are, and what follows the receiver is computed anew. Everything outside of the circuit stays taken away. Sources: Wang
et al., "Interpretability in the Wild" (2023), section 3.1; Goldowsky-Dill et al., "Localizing Model Behavior with Path Patching" (2023).

S source and T target tokens, Q query and K key positions, D d_model, E senders.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.activations.walk import PatchedTransformer
from model.analysis.circuits import Circuit
from model.analysis.stand_ins import AblationValues, mean_values
from model.correction.answers import Network
from model.trace.patches import ATTENTIONS, Node, Patch
from model.trace.taps import tap

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
