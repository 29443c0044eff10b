"""Experiment *circuit*: the heads and feed-forward networks that suffice, and their edges.

They keep a correction when all others are ablated.
"""

import json
from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

import viz
from engine import questions as declared
from model.analysis.circuits import BEYOND, Circuit, holds
from model.analysis.claims import LEVEL
from model.analysis.patching import is_lowered
from model.analysis.path_patching import Character, CircuitEdges, Edge, attribution_graph
from model.trace.interventions import SUBLAYERS, Head, Node
from ui.sentence.state import SentenceState
from ui.shell import runs
from ui.shell.settings import Choice
from ui.views.drawings import before_after
from ui.views.view import Figures, Values, View, file_name, idea, needs_activations, open_known_head
from ui.wording import (
    change_in_words,
    head_name,
    language,
    nats,
    percent,
    say,
    share_kept,
    short_head_name,
    spoken,
)
from viz.figure import Specification
from viz.labels import visible_token

GRAPH, GROWTH, CHECKS = "graph", "growth", "checks"
SETTINGS = (
    Choice("circuit_as", (GRAPH, GROWTH, CHECKS)),
    Choice("circuit_goal", ("90", "80", "95")),
    Choice("circuit_instead", ("mean", "twin")),
)
DRAWN = 0.9  # of all effects: the fewest lines that carry so much are drawn, the others folded
BESIDE = 0.2  # of a row: the distance of its sub-layers, whose boxes must not reach the next row


def _asked(state: SentenceState, values: Values) -> tuple[declared.Edit, int, str]:
    return state.edit, int(values["circuit_goal"]), values["circuit_instead"]


def _circuit(state: SentenceState, values: Values) -> Circuit | None:
    """The circuit; None where the fix writes the same tokens as the typed text."""
    both = state.known(declared.circuit_edges, *_asked(state, values))
    return both[0] if both else state.ask(declared.circuit, *_asked(state, values))


def _tells(circuit: Circuit, values: Values) -> bool:
    """Whether a circuit exists; against corrupted values only where they take enough of the score."""
    against = values["circuit_instead"] == "twin"
    return circuit.is_telling and (not against or is_lowered(circuit.score, circuit.empty))


def _edges(state: SentenceState, values: Values) -> CircuitEdges | None:
    """Its edges; None until they were asked for, which takes long."""
    both = state.known(declared.circuit_edges, *_asked(state, values))
    return both[1] if both else None


def _draw(state: SentenceState, values: Values) -> None:
    """One of three pictures: the graph, to which edges are added once they are known; how the set grew; how
    it was checked."""
    circuit, edges = _circuit(state, values), _edges(state, values)
    if circuit is None:
        return
    offers = [partial(_offer, state, circuit, edges)] if edges is not None and _tells(circuit, values) else []
    VIEW.draw_choices(*SETTINGS, *offers)
    if edges is None and values["circuit_as"] == GRAPH:
        runs.ask_later(partial(_complete, state, values))
    if _tells(circuit, values):
        VIEW.draw_figures(state, values, *_opened(state, values))


def _opened(state: SentenceState, values: Values) -> tuple[str, ...]:
    return (f"circuit_{values['circuit_as']}",)


def _complete(state: SentenceState, values: Values) -> None:
    """Ask for the edges, which the graph draws and which take long."""
    if values["circuit_as"] == GRAPH:
        state.ask(declared.circuit_edges, *_asked(state, values))


def _offer(state: SentenceState, circuit: Circuit, edges: CircuitEdges) -> None:
    st.download_button(
        say("circuit_json"),
        spoken(language())(partial(_json, state, circuit, edges)),
        file_name=f"{file_name(state, 'circuit')}.json",
        mime="application/json",
        key="circuit_json",
        on_click="ignore",
    )


def _figures_of(state: SentenceState, values: Values) -> Figures:
    """All three; nothing where the parts add nothing to the score."""
    circuit = _circuit(state, values)
    if circuit is None or not _tells(circuit, values):
        return {}
    made = {
        "circuit_graph": _graph(state, circuit, _edges(state, values)),
        "circuit_growth": _growth(state, circuit),
        "circuit_checks": _checks(state, circuit),
    }
    return {name: (figure, say(f"{name}_label")) for name, figure in made.items()}


def drawn_edges(edges: CircuitEdges, members: Sequence[Node]) -> tuple[Edge, ...]:
    """The fewest edges that carry DRAWN of all effects, and of each member the largest edge to it and from
    it, so that none is unconnected.
    """
    ranked = sorted(edges.edges, key=lambda edge: -abs(edge.nats))
    sizes = np.cumsum([abs(edge.nats) for edge in ranked])
    kept = ranked[: int(np.searchsorted(sizes, DRAWN * sizes[-1])) + 1] if ranked else []
    for node in members:
        for end in ("sender", "receiver"):
            of_node = [edge for edge in ranked if getattr(edge, end) == node]
            if of_node and not any(edge in kept for edge in of_node):
                kept.append(of_node[0])
    return tuple(kept)


def _graph(state: SentenceState, circuit: Circuit, edges: CircuitEdges | None) -> Specification:
    shown = drawn_edges(edges, circuit.members) if edges else ()
    layers = state.trace.num_layers
    characters = sorted({edge.sender for edge in shown if isinstance(edge.sender, Character)})
    places: list[Node | Character | None] = [*characters, *circuit.members, None]
    nodes = [_node(state, circuit, place, layers) for place in places]
    used = sorted({round(node.row) for node in nodes} | {0})
    names = [
        say("circuit_read"),
        *(
            say(f"circuit_column_{side}", layer=layer + 1)
            for side in ("encoder", "decoder")
            for layer in range(layers)
        ),
        say("circuit_answer"),
    ]
    numbers = {place: number for number, place in enumerate(places)}
    lines = [
        viz.GraphEdge(
            numbers[edge.sender], numbers[edge.receiver], edge.nats, f"({edge.nats / edges.score:+.0%})"
        )
        for edge in shown
        if edges is not None
    ]
    folded = [edge for edge in edges.edges if edge not in shown] if edges else []
    whole = sum(abs(edge.nats) for edge in edges.edges) if edges else 0.0
    share = percent(sum(abs(edge.nats) for edge in folded) / whole) if whole else ""
    return viz.circuit_graph.specification(
        [node._replace(row=node.row - round(node.row) + used.index(round(node.row))) for node in nodes],
        lines,
        [names[row] for row in used],
        note=say("circuit_folded", count=len(folded), share=share) if folded else "",
        captions=viz.Captions(
            titles=(say("circuit_edge"),),
            names=(say("circuit_line"), say("circuit_line_dashed")),
            theme=state.theme,
        ),
    )


def _node(
    state: SentenceState, circuit: Circuit, place: Node | Character | None, layers: int
) -> viz.GraphNode:
    match place:
        case None:
            return viz.GraphNode(visible_token(circuit.contrast.written_token), 2 * layers + 1, "answer")
        case Character():
            tokens = (
                state.trace.source_tokens if place.side == "encoder" else state.trace.decoder_input_tokens
            )
            token = visible_token(tokens[place.position])
            detail = say(f"circuit_token_{place.side}", token=token, position=place.position + 1)
            return viz.GraphNode(token if place.side == "encoder" else f"({token})", 0, "token", detail)
    # The row says which side and layer; a head of encoder-decoder attention is in the decoder.
    short = say("circuit_short_feed") if place.head is None else f"{place.layer + 1}·{place.head + 1}"
    if place.kind == "cross_attention":
        assert place.head is not None, "attention has heads"
        short = short_head_name(Head(place.kind, place.layer, place.head))
    custom = None if place.head is None else tuple(place)
    kinds = SUBLAYERS[place.side]
    beside = (kinds.index(place.kind) - (len(kinds) - 1) / 2) * BESIDE
    row = 1 + place.layer + layers * (place.side == "decoder") + beside
    return viz.GraphNode(short, row, "part", node_name(place), custom)


def node_name(node: Node) -> str:
    """A head as on the tiles; a feed-forward network by its layer."""
    if node.head is not None:
        return head_name(Head(node.kind, node.layer, node.head))
    return say(f"circuit_feed_{node.side}", layer=node.layer + 1)


def _reached(circuit: Circuit) -> int:
    """The first set of ``growth`` that keeps the goal, from 0."""
    reached = np.flatnonzero(holds(circuit.growth, circuit.goal)).tolist()
    return reached[0] if reached else len(circuit.growth) - 1


def _growth(state: SentenceState, circuit: Circuit) -> Specification:
    reached = _reached(circuit)
    count = min(reached + 1 + BEYOND, len(circuit.growth))
    return viz.layer_curve.specification(
        circuit.growth[:count].tolist(),
        [str(number) for number in range(1, count + 1)],
        details=[
            f"{node_name(node)}: {say('circuit_member' if node in circuit.members else 'circuit_spared')}"
            for node in circuit.nodes[:count]
        ],
        marked=reached,
        beside=(
            len(circuit.members) - 1,
            circuit.faithfulness,
            say("circuit_growth_found", count=len(circuit.members)),
        ),
        captions=viz.Captions(titles=(say("circuit_share"), say("circuit_growth_count")), theme=state.theme),
    )


def _checks(state: SentenceState, circuit: Circuit) -> Specification:
    whole = circuit.faithfulness
    rows = [  # first the two that are compared, in sight wherever the picture ends
        viz.Measured(say("circuit_complement"), whole, circuit.completeness),
        viz.Measured(say("circuit_random", count=len(circuit.members)), whole, float(circuit.random.mean())),
    ]
    rows += [
        viz.Measured(
            say("circuit_without", node=node_name(node)),
            whole,
            float(share),
            tuple(node) if node.head is not None else None,
        )
        for node, share in zip(circuit.members, circuit.without, strict=True)
    ]
    return before_after(state, rows, say("circuit_share"), (say("circuit_whole"), say("circuit_changed")))


def _json(state: SentenceState, circuit: Circuit, edges: CircuitEdges) -> bytes:
    names = {node: node_name(node) for node in circuit.members}
    graph = attribution_graph(circuit, edges, state.trace, state.corrector.name, names)
    return json.dumps(graph, ensure_ascii=False, indent=1).encode()


def _describe(state: SentenceState, values: Values) -> str:
    """How many parts are enough, and how well random ones do."""
    circuit, change = _circuit(state, values), state.explained
    if circuit is None:
        return say("circuit_same_token")
    ends = {"score": nats(circuit.score), "empty": nats(circuit.empty)}
    if not _tells(circuit, values):
        return say(f"circuit_nothing_{values['circuit_instead']}", change=change_in_words(change), **ends)
    if values["circuit_as"] == GROWTH:
        return say(
            "circuit_growth_reading",
            change=change_in_words(change),
            reached=_reached(circuit) + 1,
            goal=say(f"circuit_goal_{values['circuit_goal']}"),
            kept=share_kept(float(circuit.growth[_reached(circuit)])),
            count=len(circuit.members),
            share=share_kept(circuit.faithfulness),
        )
    told = say(
        "circuit_reading",
        change=change_in_words(change),
        **ends,
        reference=say(f"circuit_empty_{values['circuit_instead']}"),
        kept=nats(circuit.kept),
        count=len(circuit.members),
        parts=len(circuit.nodes),
        share=share_kept(circuit.faithfulness),
        random=share_kept(float(circuit.random.mean())),
    )
    return told if circuit.p < LEVEL else told + say("circuit_as_random", p=f"{circuit.p:.3g}")


def _notes(state: SentenceState, values: Values) -> list[str]:
    told = [
        say(f"circuit_note_{values['circuit_as']}"),
        say(f"circuit_instead_note_{values['circuit_instead']}"),
    ]
    circuit = None if VIEW.message(state) else _circuit(state, values)
    if circuit is not None and _tells(circuit, values):
        told.append(
            say(
                "circuit_measures",
                faithfulness=share_kept(circuit.faithfulness),
                completeness=share_kept(circuit.completeness),
                least=share_kept(float((circuit.faithfulness - circuit.without).min())),
                count=len(circuit.random),
                best=share_kept(float(circuit.random[np.abs(1 - circuit.random).argmin()])),
                p=f"{circuit.p:.3f}",
            )
        )
        told.append(say("circuit_minimal" if circuit.is_minimal else "circuit_not_minimal"))
    return told


VIEW = View(
    "circuit",
    "laboratory",
    70,
    _describe,
    SETTINGS,
    _notes,
    idea("circuit"),
    _draw,
    _figures_of,
    on_click=lambda state, _: partial(open_known_head, state),
    drawn=SETTINGS,
    opened=_opened,
    complete=_complete,
    has_map=False,
    intervenes=True,
    lacks=needs_activations(declared.circuit),
    unchanged="without_none",
).declare()
