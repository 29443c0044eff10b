"""``circuit_graph``: nodes and edges; ``token_branches``: continuations as rows of tokens."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from viz.axes import named_axis
from viz.figure import (
    PLAIN,
    TITLE_HEIGHT,
    Captions,
    Specification,
    as_figure,
    base_axis,
    base_layout,
    legend_across,
    rectangle,
    weight_scale,
)
from viz.labels import cell_label, decimal, plain_text, template_text, visible_token, width_in_em
from viz.theme import colour_scale, palette

_GRAPH_ROW, _LEAST_ROW, _FOOT, _EM = 50, 44, 40, 13  # pixels; an em is that of the rows' names
_WIDTHS = (1.2, 2.4, 4.2, 6.5)  # pixels of a line, by the size of its effect


class GraphNode(NamedTuple):
    """A box of the graph. ``custom`` is sent to the page when it is chosen, such as a head.

    Example:
        >>> GraphNode("head 1", row=2).custom is None
        True
    """

    name: str
    row: float  # from 0, at the top; with a fraction for places above or below the row's middle
    kind: str = "part"  # "part", "token" or "answer"
    detail: str = ""  # added in the hover
    custom: tuple | None = None


class GraphEdge(NamedTuple):
    """A line from one node to another, given by their numbers. ``note`` follows the number in the hover.

    Example:
        >>> GraphEdge(0, 1, 2.5).nats
        2.5
    """

    start: int
    end: int
    nats: float
    note: str = ""


@as_figure
def circuit_graph(
    nodes: Sequence[GraphNode],
    edges: Sequence[GraphEdge],
    rows: Sequence[str],
    *,
    note: str = "",
    captions: Captions = PLAIN,
) -> Specification:
    """The nodes in rows from top to bottom, and lines whose width says how large an effect is. An effect
    below 0 is a dashed line.

    A node is an opaque box around its name, so no line crosses a name. ``customdata`` of each node is its
    ``custom``, so that a page can react to a click or to the arrow keys.

    Args:
        note: a line below the rows.
        captions: the title of the effects; the legend's names of whole and of dashed lines, which has none
            by default.

    Raises:
        ValueError: an edge to a node that does not exist, a node in no row, values that are not
            finite, and an unknown theme.

    Example:
        >>> nodes = [GraphNode("거", 0, "token"), GraphNode("head", 1)]
        >>> figure = circuit_graph(nodes, [GraphEdge(0, 1, 2.5)], ["read", "layer 1"])
        >>> figure.data[-1].text
        ('거', 'head')
    """
    if any(not 0 <= end < len(nodes) for edge in edges for end in edge[:2]):
        raise ValueError(f"edges should lead between {len(nodes)} nodes, received {edges}")
    if any(not -0.5 < node.row < len(rows) - 0.5 for node in nodes):
        raise ValueError(f"nodes should stand in {len(rows)} rows")
    if not np.isfinite([edge.nats for edge in edges]).all():
        raise ValueError("effects should be finite")
    theme = captions.theme
    (edge_title,) = captions.or_else(titles=("Intervened, nats",)).titles
    layout = _layout(rows, captions.title, note, theme)
    if not nodes:
        return {"data": [], "layout": layout}
    places = _places(nodes, edges)
    layout["annotations"] = [
        _box(node, place, theme) for node, place in zip(nodes, places.tolist(), strict=True)
    ]
    lines = _lines(edges, places, theme)
    if captions.names:
        layout |= {"legend": legend_across(1, "bottom", fixed=True)}
        for sign, name in zip(("solid", "dash"), captions.names, strict=True):
            widest = [line for line in lines if line["line"]["dash"] == sign][-1:]
            for line in widest:
                line |= {"name": plain_text(name), "showlegend": True}
    return {
        "data": [*lines, _numbers(nodes, edges, places, edge_title), _points(nodes, places)],
        "layout": layout,
    }


def _places(nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> np.ndarray:
    """(N, 2): x in 0..1 and y of each node. A row shares out the width evenly. From the second row on, nodes
    are in the order of the middle of those above that lead to them, so that few lines cross.
    """
    places = np.array([(0.5, node.row) for node in nodes], float)
    numbers = [round(node.row) for node in nodes]
    for row in sorted(set(numbers)):
        members = [number for number, each in enumerate(numbers) if each == row]
        above = {
            number: [
                places[edge.start][0] for edge in edges if edge.end == number and numbers[edge.start] < row
            ]
            for number in members
        }
        order = sorted(members, key=lambda number: float(np.mean(above[number] or [0.5])))
        for turn, number in enumerate(order if row else members):
            places[number, 0] = (turn + 0.5) / len(members)
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
        "hovertext": [f"{decimal(edge.nats, signed=True)} {plain_text(edge.note)}".strip() for edge in edges],
        "hovertemplate": f"%{{text}}<br>{template_text(edge_title)}: <b>%{{hovertext}}</b><extra></extra>",
        "showlegend": False,
    }


def _box(node: GraphNode, place: Sequence[float], theme: str) -> dict:
    """A node's name in its box, which covers the lines behind it."""
    colours = palette(theme)
    border = {"token": colours.quiet_text, "part": colours.qualitative[0], "answer": colours.accent}[
        node.kind
    ]
    name = plain_text(node.name)
    return {
        "text": f"<b>{name}</b>" if node.kind == "answer" else name,
        "x": place[0],
        "y": place[1],
        "showarrow": False,
        "font": {"size": 12, "color": colours.text},
        "bgcolor": colours.gap,
        "bordercolor": border,
        "borderwidth": 2,
        "borderpad": 3,
    }


def _points(nodes: Sequence[GraphNode], places: np.ndarray) -> dict:
    """An invisible marker on each box, which answers the mouse and the arrow keys."""
    return {
        "type": "scatter",
        "x": places[:, 0].tolist(),
        "y": places[:, 1].tolist(),
        "mode": "markers",
        "text": [plain_text(node.name) for node in nodes],
        "marker": {"symbol": "square", "size": 28, "opacity": 0},
        "customdata": [list(node.custom or ()) for node in nodes],
        "hovertext": [template_text(node.detail or node.name) for node in nodes],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "showlegend": False,
    }


def _layout(rows: Sequence[str], title: str, note: str, theme: str) -> dict:
    count = max(len(rows), 1)
    height = TITLE_HEIGHT + count * _GRAPH_ROW + _FOOT
    widest = max(map(width_in_em, rows), default=1.0)
    return base_layout(theme, title, height) | {
        "xaxis": base_axis(theme, note, showgrid=False, fixedrange=True, range=[0, 1], showticklabels=False),
        "yaxis": named_axis(theme, "", map(plain_text, rows), range=[count - 0.5, -0.5], fixedrange=True),
        "margin": {"t": TITLE_HEIGHT, "l": 16 + _EM * widest, "r": 12, "b": _FOOT},
        "meta": {
            "fit": "fill",
            "least": TITLE_HEIGHT + count * _LEAST_ROW + _FOOT,
            "across": 1,
            "half": [0.04, 0.3],
        },
    }


_ROW, _GAP, _BRANCHES_FOOT, _HEAD = 40, 0.5, 44, 40  # pixels; the gap between two rows in rows


def token_branches(
    tokens: Sequence[Sequence[str]],
    probabilities: Sequence[Sequence[float]],
    names: Sequence[str],
    *,
    parted: int | None = None,
    captions: Captions = PLAIN,
) -> go.Figure:
    """One row of cells for each of R branches, one cell for each token; step t lies at x = t + 1.

    Args:
        tokens: R rows of tokens as they were typed; they are escaped here. Rows may differ in length.
        probabilities: of each token, in 0..1, with the lengths of ``tokens``.
        names: R names, left of the rows.
        parted: the step, from 0, where the branches part; its column is framed.
        captions: titles of the steps and of the probability.

    Raises:
        ValueError: rows that do not fit each other, probabilities outside 0..1, a step that no branch
            has, and an unknown theme.

    Example:
        >>> ways = [["돼", "요"], ["되", "요"]]
        >>> figure = token_branches(ways, [[0.75, 0.5], [0.25, 0.5]], ["written", "other"], parted=0)
        >>> figure.data[0].z.tolist()
        [[0.75, 0.5], [0.25, 0.5]]
    """
    lengths = [len(row) for row in tokens]
    rows = _checked_rows(lengths, probabilities, names, parted)
    captions = captions.or_else(titles=("Step", "Probability"))
    layout = _branches_layout(names, max(lengths, default=0), parted, captions)
    cells = [_cells(tokens, rows, layout["height"], captions)] if any(lengths) else []
    return go.Figure(cells, layout)


def _checked_rows(
    lengths: Sequence[int], probabilities: Iterable[ArrayLike], names: Sequence[str], parted: int | None
) -> list[np.ndarray]:
    rows = [np.asarray(row, np.float32) for row in probabilities]
    if lengths != [len(row) for row in rows] or len(names) != len(lengths):
        received = (lengths, [len(row) for row in rows], len(names))
        raise ValueError(f"tokens, probabilities and names should fit each other, received {received}")
    for row in rows:
        if not ((row >= 0) & (row <= 1 + 1e-4)).all():
            raise ValueError(f"probabilities should lie in 0..1, received {row.min()} to {row.max()}")
    if parted is not None and not 0 <= parted < max(lengths, default=0):
        raise ValueError(f"parted should be a step of a branch, received {parted}")
    return rows


def _cells(
    tokens: Sequence[Sequence[str]], rows: Sequence[np.ndarray], height: float, captions: Captions
) -> go.Heatmap:
    step_title, probability_title = captions.titles
    shape = len(tokens), max(map(len, tokens))
    values = np.full(shape, np.nan, np.float32)
    texts, whole = np.full(shape, "", object), np.full(shape, "", object)
    for row, (branch, found) in enumerate(zip(tokens, rows, strict=True)):
        values[row, : len(branch)] = found
        texts[row, : len(branch)] = [cell_label(token) for token in branch]
        whole[row, : len(branch)] = [template_text(visible_token(token)) for token in branch]
    return go.Heatmap(
        z=values,
        text=texts.tolist(),  # the browser may shrink the text to fit its cell
        customdata=whole,
        texttemplate="%{text}",
        textfont={"size": 15 if shape[1] <= 44 else 10},
        x0=1,
        y=[row * (1 + _GAP) for row in range(len(tokens))],
        zmin=0,
        zmax=1,
        colorscale=colour_scale(palette(captions.theme).sequential),
        colorbar=weight_scale(probability_title, height) | {"nticks": 3, "tickformat": "~g"},
        xgap=1,
        ygap=_ROW * _GAP,
        hovertemplate=f"{template_text(step_title)} %{{x:d}}: <b>%{{customdata}}</b>"
        f"<br>{template_text(probability_title)}: <b>%{{z:.3f}}</b><extra></extra>",
    )


def _branches_layout(names: Sequence[str], steps: int, parted: int | None, captions: Captions) -> dict:
    theme, rows = captions.theme, len(names)
    height = TITLE_HEIGHT + _HEAD + max(rows, 1) * (1 + _GAP) * _ROW + _BRANCHES_FOOT
    accent = palette(theme).accent
    frame = rectangle(
        ((parted or 0) + 0.5, (parted or 0) + 1.5), (-0.5, (rows - 1) * (1 + _GAP) + 0.5), accent, 2
    )
    widest = max((width_in_em(name) for name in names), default=0)
    return base_layout(theme, captions.title, height) | {
        "xaxis": base_axis(
            theme,
            captions.titles[0],
            range=[0.5, max(steps, 1) + 0.5],
            showgrid=False,
            dtick=5,
            tick0=0,
            fixedrange=True,
        ),
        "yaxis": named_axis(
            theme,
            "",
            map(plain_text, names),
            [row * (1 + _GAP) for row in range(rows)],
            range=[max(rows - 1, 0) * (1 + _GAP) + 0.75, -0.75],
            fixedrange=True,
        ),
        "shapes": [] if parted is None else [frame],
        "meta": {"tokens": max(steps, 1)},
        "margin": {"t": TITLE_HEIGHT + _HEAD, "l": 16 + 14 * widest, "r": 16, "b": _BRANCHES_FOOT},
        "plot_bgcolor": "rgba(0,0,0,0)",
    }
