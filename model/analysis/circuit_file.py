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


def graph_of(
    circuit: Circuit,
    edges: CircuitEdges,
    source_tokens: Sequence[str],
    read_tokens: Sequence[str],
    *,
    layers: int,
    model: str,
    names: Mapping[Node, str] | None = None,
) -> dict:
    """The graph's prompt is ``source_tokens`` (S,) and then ``read_tokens`` (row + 1,), what the decoder has read up to the row.
    ``names``: what nodes are called.

    >>> from model.analysis import circuit_edges, find_circuit
    >>> from model.text.changes import find_changes
    >>> circuit = find_circuit(corrector, "머거요", "먹어요", *find_changes("머거요", "먹어요"))
    >>> edges = circuit_edges(corrector, "머거요", "먹어요", circuit)
    >>> graph = graph_of(circuit, edges, "머거요.", "^", layers=4, model="transformer")
    >>> sorted(graph), graph["nodes"][-1]["clerp"]
    (['links', 'metadata', 'nodes', 'qParams'], '먹 (not 머)')
    """
    prompt = [*source_tokens, *read_tokens]
    characters = sorted(
        {edge.sender for edge in edges.edges if isinstance(edge.sender, Character)}, reverse=True
    )
    characters.sort(key=lambda each: (each.side != "encoder", each.position))
    last, shift = len(prompt) - 1, len(source_tokens)
    nodes = [
        _node(
            _id(c),
            "E",
            c.position + shift * (c.side == "decoder"),
            "embedding",
            prompt[c.position + shift * (c.side == "decoder")],
        )
        for c in characters
    ]
    for node in circuit.members:
        column = str(node.layer + 1 + layers * (node.side == "decoder"))
        kind = "feed-forward network" if node.head is None else "attention head"
        nodes.append(_node(_id(node), column, last, kind, (names or {}).get(node, _id(node))))
    contrast = circuit.contrast
    answer = f"{contrast.written_token} (not {contrast.instead_token})"
    nodes.append(_node(_id(None), str(2 * layers + 1), last, "logit", answer) | {"is_target_logit": True})
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
        "nodes": nodes,
        "links": [
            {"source": _id(edge.sender), "target": _id(edge.receiver), "weight": edge.nats}
            for edge in edges.edges
        ],
    }


def _id(place: Node | Character | None) -> str:
    match place:
        case None:
            return "answer"
        case Character():
            return f"E_{place.side}_{place.position}"
        case _:
            head = "" if place.head is None else f"_{place.head + 1}"
            return f"{place.kind}_{place.layer + 1}{head}"


def _node(name: str, layer: str, position: int, kind: str, label: str) -> dict:
    return {
        "node_id": name,
        "jsNodeId": name,
        "feature": 0,
        "layer": layer,
        "ctx_idx": position,
        "feature_type": kind,
        "is_target_logit": False,
        "clerp": label,
    }
