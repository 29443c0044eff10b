"""Experiment *circuit*: the heads and feed-forward networks that suffice, and their edges.

They keep a correction when all others are ablated.
"""

import json
from collections.abc import Callable, Sequence
from functools import cached_property, partial

import numpy as np

import viz
from engine import questions as declared
from engine.question import Edit
from model.analysis.ablation import Character, Edge
from model.analysis.circuits import BEYOND, Circuit, holds
from model.analysis.claims import LEVEL
from model.analysis.patching import is_lowered
from model.analysis.path_patching import CircuitEdges, attribution_graph
from model.trace.interventions import SUBLAYERS, Head, Node
from ui.shell import controls, runs
from ui.shell.settings import Choice
from ui.views.drawings import before_after
from ui.views.view import Click, Figures, View, file_name, needs_activations, open_known_head
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


def drawn_edges(edges: CircuitEdges, members: Sequence[Node]) -> tuple[Edge, ...]:
    """The fewest edges that carry DRAWN of all effects, in nats, and of each member the largest edge to it
    and from it, so that none is unconnected."""
    ranked = sorted(edges.edges, key=lambda edge: -abs(edge.nats))
    sizes = np.cumsum([abs(edge.nats) for edge in ranked])
    kept = ranked[: int(np.searchsorted(sizes, DRAWN * sizes[-1])) + 1] if ranked else []
    for node in members:
        for end in ("sender", "receiver"):
            of_node = [edge for edge in ranked if getattr(edge, end) == node]
            if of_node and not any(edge in kept for edge in of_node):
                kept.append(of_node[0])
    return tuple(kept)


def node_name(node: Node) -> str:
    """A head as on the tiles; a feed-forward network by its layer.

    >>> with spoken("en"):
    ...     node_name(Node("decoder_feed_forward", 3))
    'Decoder feed-forward 4'
    """
    if node.head is not None:
        return head_name(Head(node.kind, node.layer, node.head))
    return say(f"circuit_feed_{node.side}", layer=node.layer + 1)


class CircuitView(View):
    """One of three pictures: the graph, to which edges are added once they are known; how the set grew; how
    it was checked."""

    name, page, order = "circuit", "laboratory", 70
    settings = drawn = SETTINGS
    has_map = False
    intervenes = True
    lacks = staticmethod(needs_activations(declared.circuit))
    unchanged = "without_none"

    @property
    def _asked(self) -> tuple[Edit, int, str]:
        return self.state.edit, int(self.values["circuit_goal"]), self.values["circuit_instead"]

    @property
    def _both(self) -> tuple[Circuit, CircuitEdges] | None:
        """The circuit and its edges; None until they were asked for, which takes long."""
        return self.state.known(declared.circuit_edges, *self._asked)

    @cached_property
    def circuit(self) -> Circuit | None:
        """None where the fix writes the same tokens as the typed text."""
        return self._both[0] if self._both else self.state.ask(declared.circuit, *self._asked)

    @cached_property
    def edges(self) -> CircuitEdges | None:
        return self._both[1] if self._both else None

    @cached_property
    def telling(self) -> Circuit | None:
        """The circuit where one exists; against corrupted values only where they take enough of the score."""
        found, against = self.circuit, self.values["circuit_instead"] == "twin"
        if found is None or not found.is_telling:
            return None
        return found if not against or is_lowered(found.score, found.empty) else None

    def choices(self) -> list[Choice | Callable[[], object]]:
        offers = [self._offer] if self.edges is not None and self.telling else []
        return [*SETTINGS, *offers]

    @property
    def opened(self) -> tuple[str, ...]:
        return (f"circuit_{self.values['circuit_as']}",) if self.telling else ()

    def show(self) -> None:
        if self.circuit is None:
            return
        if self.edges is None and self.values["circuit_as"] == GRAPH:
            runs.ask_later(self.complete)
        super().show()

    def complete(self) -> None:
        """Ask for the edges, which the graph draws and which take long. Raises EngineError without an
        answer."""
        if self.values["circuit_as"] == GRAPH:
            self.state.ask(declared.circuit_edges, *self._asked)

    def on_click(self, figure: str) -> Click:
        return partial(open_known_head, self.state)

    def _offer(self) -> None:
        make, file = spoken(language())(self._json), f"{file_name(self.state, 'circuit')}.json"
        controls.offer(say("circuit_json"), "circuit_json", file, make, mime="application/json")

    def _json(self) -> bytes:
        circuit, edges, state = self.circuit, self.edges, self.state
        assert circuit is not None and edges is not None, "else it is not offered"
        names = {node: node_name(node) for node in circuit.members}
        graph = attribution_graph(circuit, edges, state.trace, state.corrector.name, names)
        return json.dumps(graph, ensure_ascii=False, indent=1).encode()

    @cached_property
    def figures(self) -> Figures:
        """All three; nothing where the parts add nothing to the score."""
        if (circuit := self.telling) is None:
            return {}
        made = {
            "circuit_graph": self._graph(circuit),
            "circuit_growth": self._growth(circuit),
            "circuit_checks": self._checks(circuit),
        }
        return {name: (figure, say(f"{name}_label")) for name, figure in made.items()}

    def _graph(self, circuit: Circuit) -> Specification:
        edges, layers = self.edges, self.state.trace.num_layers
        shown = drawn_edges(edges, circuit.members) if edges else ()
        characters = sorted({edge.sender for edge in shown if isinstance(edge.sender, Character)})
        places: list[Node | Character | None] = [*characters, *circuit.members, None]
        nodes = [self._node(circuit, place) for place in places]
        used = sorted({round(node.row) for node in nodes} | {0})
        columns = (
            say(f"circuit_column_{side}", layer=layer + 1)
            for side in ("encoder", "decoder")
            for layer in range(layers)
        )
        names = [say("circuit_read"), *columns, say("circuit_answer")]
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
                theme=self.state.theme,
            ),
        )

    def _node(self, circuit: Circuit, place: Node | Character | None) -> viz.GraphNode:
        trace = self.state.trace
        match place:
            case None:
                answer = visible_token(circuit.contrast.written_token)
                return viz.GraphNode(answer, 2 * trace.num_layers + 1, "answer")
            case Character():
                tokens = trace.source_tokens if place.side == "encoder" else trace.decoder_input_tokens
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
        row = 1 + place.layer + trace.num_layers * (place.side == "decoder") + beside
        return viz.GraphNode(short, row, "part", node_name(place), custom)

    def _growth(self, circuit: Circuit) -> Specification:
        reached, members = _reached(circuit), len(circuit.members)
        count = min(reached + 1 + BEYOND, len(circuit.growth))
        details = [
            f"{node_name(node)}: {say('circuit_member' if node in circuit.members else 'circuit_spared')}"
            for node in circuit.nodes[:count]
        ]
        titles = say("circuit_share"), say("circuit_growth_count")
        return viz.layer_curve.specification(
            circuit.growth[:count].tolist(),
            [str(number) for number in range(1, count + 1)],
            details=details,
            marked=reached,
            beside=(members - 1, circuit.faithfulness, say("circuit_growth_found", count=members)),
            captions=viz.Captions(titles=titles, theme=self.state.theme),
        )

    def _checks(self, circuit: Circuit) -> Specification:
        whole, random = circuit.faithfulness, float(circuit.random.mean())
        rows = [  # first the two that are compared, in sight wherever the picture ends
            viz.Measured(say("circuit_complement"), whole, circuit.completeness),
            viz.Measured(say("circuit_random", count=len(circuit.members)), whole, random),
        ]
        for node, share in zip(circuit.members, circuit.without, strict=True):
            custom = tuple(node) if node.head is not None else None
            name = say("circuit_without", node=node_name(node))
            rows.append(viz.Measured(name, whole, float(share), custom))
        names = say("circuit_whole"), say("circuit_changed")
        return before_after(self.state, rows, say("circuit_share"), names)

    def reading(self) -> str:
        """How many parts are enough, and how well random ones do."""
        if (found := self.circuit) is None:
            return say("circuit_same_token")
        change, instead = change_in_words(self.state.explained), self.values["circuit_instead"]
        ends = {"score": nats(found.score), "empty": nats(found.empty)}
        if (circuit := self.telling) is None:
            return say(f"circuit_nothing_{instead}", change=change, **ends)
        about = {"count": len(circuit.members), "share": share_kept(circuit.faithfulness), "change": change}
        if self.values["circuit_as"] == GROWTH:
            reached = _reached(circuit)
            goal = say(f"circuit_goal_{self.values['circuit_goal']}")
            kept = share_kept(float(circuit.growth[reached]))
            return say("circuit_growth_reading", reached=reached + 1, goal=goal, kept=kept, **about)
        told = say(
            "circuit_reading",
            **ends,
            **about,
            reference=say(f"circuit_empty_{instead}"),
            kept=nats(circuit.kept),
            parts=len(circuit.nodes),
            random=share_kept(float(circuit.random.mean())),
        )
        return told if circuit.p < LEVEL else told + say("circuit_as_random", p=f"{circuit.p:.3g}")

    def notes(self) -> list[str]:
        settings = ("circuit_note", "circuit_as"), ("circuit_instead_note", "circuit_instead")
        told = [say(f"{text}_{self.values[name]}") for text, name in settings]
        circuit = None if self.message else self.telling
        if circuit is not None:
            measures = say(
                "circuit_measures",
                faithfulness=share_kept(circuit.faithfulness),
                completeness=share_kept(circuit.completeness),
                least=share_kept(float((circuit.faithfulness - circuit.without).min())),
                count=len(circuit.random),
                best=share_kept(float(circuit.random[np.abs(1 - circuit.random).argmin()])),
                p=f"{circuit.p:.3f}",
            )
            told += [measures, say("circuit_minimal" if circuit.is_minimal else "circuit_not_minimal")]
        return told


def _reached(circuit: Circuit) -> int:
    """The first set of ``growth`` that keeps the goal, from 0."""
    reached = np.flatnonzero(holds(circuit.growth, circuit.goal)).tolist()
    return reached[0] if reached else len(circuit.growth) - 1
