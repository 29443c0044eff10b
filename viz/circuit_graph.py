"""A circuit as a graph: from what was read, at the left, through the parts of the network to the answer, at the right."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from viz.figure import TITLE_HEIGHT, Specification, as_figure, base_axis, base_layout, figure_title
from viz.labels import plain_text, template_text
from viz.theme import palette

_HEIGHT, _LEAST, _FOOT = 460, 300, 46  # pixels
_WIDTHS = (1.2, 2.4, 4.2, 6.5)  # pixels of a line, by the size of its effect


class GraphNode(NamedTuple):
    """A point of the graph. ``custom`` is what the page gets when it is chosen, such as a head.

    >>> GraphNode("head 1", column=2).custom is None
    True
    """

    name: str
    column: float  # from 0, at the left; with a fraction for what stands left or right of the column's middle
    kind: str = "part"  # "part", "token" or "answer"
    detail: str = ""  # what the hover adds
    custom: tuple | None = None


class GraphEdge(NamedTuple):
    """A line from one node to another, given by their numbers.

    >>> GraphEdge(0, 1, 2.5).nats
    2.5
    """

    start: int
    end: int
    nats: float


@as_figure
def circuit_graph(
    nodes: Sequence[GraphNode],
    edges: Sequence[GraphEdge],
    columns: Sequence[str],
    *,
    edge_title: str = "Intervened, nats",
    title: str = "",
    theme: str = "light",
) -> Specification:
    """The nodes in their columns, and lines whose width says how large an effect is. An effect below 0 is a dashed line.

    ``customdata`` of each node is its ``custom``, so that a page can react to a click or to the arrow keys.

    Raises ValueError for an edge to a node that does not exist, a node in no column, values that are not finite, and an unknown theme.

    >>> figure = circuit_graph([GraphNode("거", 0, "token"), GraphNode("head", 1)], [GraphEdge(0, 1, 2.5)], ["read", "layer 1"])
    >>> figure.data[-1].text
    ('거', 'head')
    """
    if any(not 0 <= end < len(nodes) for edge in edges for end in edge[:2]):
        raise ValueError(f"edges should lead between {len(nodes)} nodes, received {edges}")
    if any(not -0.5 < node.column < len(columns) - 0.5 for node in nodes):
        raise ValueError(f"nodes should stand in {len(columns)} columns")
    if not np.isfinite([edge.nats for edge in edges]).all():
        raise ValueError("effects should be finite")
    layout = _layout(columns, title, theme)
    if not nodes:
        return {"data": [], "layout": layout}
    places = _places(nodes)
    lines = _lines(edges, places, theme)
    return {
        "data": [*lines, _numbers(nodes, edges, places, edge_title), _points(nodes, places, theme)],
        "layout": layout,
    }


def _places(nodes: Sequence[GraphNode]) -> np.ndarray:
    """(N, 2): x and y of each node. A column shares out the height evenly; every other column begins a little lower, so that names do not
    run into those beside them."""
    places = np.zeros((len(nodes), 2))
    columns = [round(node.column) for node in nodes]
    for column in set(columns):
        members = [number for number, each in enumerate(columns) if each == column]
        lower = 0.12 if column % 2 else 0.0
        for turn, number in enumerate(members):
            places[number] = nodes[number].column, 1 - (turn + 0.5 + lower) / (len(members) + lower)
    return places


def _lines(edges: Sequence[GraphEdge], places: np.ndarray, theme: str) -> list[dict]:
    """One trace for each width and sign."""
    colours = palette(theme)
    largest = max((abs(edge.nats) for edge in edges), default=1.0) or 1.0
    found = []
    for number, width in enumerate(_WIDTHS):
        for positive in (True, False):
            drawn = [
                edge
                for edge in edges
                if (edge.nats >= 0) == positive
                and min(int(abs(edge.nats) / largest * len(_WIDTHS)), len(_WIDTHS) - 1) == number
            ]
            if drawn:
                points = [(*places[edge.start], *places[edge.end]) for edge in drawn]
                found.append(
                    {
                        "type": "scatter",
                        "x": [x for each in points for x in (each[0], each[2], None)],
                        "y": [y for each in points for y in (each[1], each[3], None)],
                        "mode": "lines",
                        "line": {
                            "color": colours.qualitative[0 if positive else 1],
                            "width": width,
                            "dash": "solid" if positive else "dash",
                        },
                        "opacity": 0.55,
                        "hoverinfo": "skip",
                        "showlegend": False,
                    }
                )
    return found


def _numbers(
    nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], places: np.ndarray, edge_title: str
) -> dict:
    """An invisible point on each line, which says its number."""
    middle = [(places[edge.start] * 0.45 + places[edge.end] * 0.55) for edge in edges]
    return {
        "type": "scatter",
        "x": [point[0] for point in middle],
        "y": [point[1] for point in middle],
        "mode": "markers",
        "marker": {"size": 14, "opacity": 0},
        "text": [
            f"{template_text(nodes[edge.start].name)} → {template_text(nodes[edge.end].name)}"
            for edge in edges
        ],
        "customdata": [f"{edge.nats:+.2f}".replace("-", "−") for edge in edges],
        "hovertemplate": f"%{{text}}<br>{template_text(edge_title)}: <b>%{{customdata}}</b><extra></extra>",
        "showlegend": False,
    }


def _points(nodes: Sequence[GraphNode], places: np.ndarray, theme: str) -> dict:
    colours = palette(theme)
    looks = {
        "token": (colours.quiet_text, "square", 9),
        "part": (colours.qualitative[0], "circle", 15),
        "answer": (colours.accent, "diamond", 17),
    }
    return {
        "type": "scatter",
        "x": places[:, 0].tolist(),
        "y": places[:, 1].tolist(),
        "mode": "markers+text",
        "text": [plain_text(node.name) for node in nodes],
        "textposition": "top center",
        "textfont": {"size": 12, "color": colours.text},
        "cliponaxis": False,
        "marker": {
            "color": [looks[node.kind][0] for node in nodes],
            "symbol": [looks[node.kind][1] for node in nodes],
            "size": [looks[node.kind][2] for node in nodes],
            "opacity": 1,
        },
        "customdata": [list(node.custom or ()) for node in nodes],
        "hovertext": [template_text(node.detail or node.name) for node in nodes],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "showlegend": False,
    }


def _layout(columns: Sequence[str], title: str, theme: str) -> dict:
    fixed = {"showgrid": False, "zeroline": False, "fixedrange": True}
    return base_layout(theme) | {
        "title": figure_title(plain_text(title), _HEIGHT),
        "xaxis": base_axis(theme, "")
        | fixed
        | {
            "range": [-0.5, max(len(columns), 1) - 0.5],
            "tickmode": "array",
            "tickvals": list(range(len(columns))),
            "ticktext": [plain_text(column) for column in columns],
        },
        "yaxis": base_axis(theme, "") | fixed | {"range": [-0.02, 1.08], "showticklabels": False},
        "height": _HEIGHT,
        "margin": {"t": TITLE_HEIGHT, "l": 12, "r": 12, "b": _FOOT},
        "meta": {"fit": "fill", "least": _LEAST},
    }
