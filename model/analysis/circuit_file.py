"""A circuit as JSON in the format in which public viewers of attribution graphs read theirs.

The format is the one that the library circuit-tracer (Ameisen et al., "Circuit Tracing", 2025) writes and that Neuronpedia's schema of
attribution graphs describes: metadata, nodes and links. Their nodes are features, ours are heads and feed-forward networks. The weights of
their links are linear attributions, ours are effects of interventions, in nats.
"""

from collections.abc import Mapping, Sequence

from model.analysis.circuit_edges import Character, CircuitEdges
from model.analysis.circuits import Circuit
from model.trace.patches import Node

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
