"""What lies over the cells of an attention map: hover and clicks, outlines, and entries of the legend."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.labels import plain_text
from viz.theme import palette

# The axes on which every place has its label, for the hover; those in sight leave labels out where crowded.
HOVER_AXES = {"xaxis": "x2", "yaxis": "y2"}

# Of more cells the browser would keep a list for too long (262,144 took it 1.6 s more).
MOST_CELLS_TO_CLICK = 40_000


def cell_markers(values: np.ndarray, cells: np.ndarray, first: tuple[int, int], hover: str) -> go.Scatter:
    """An invisible marker on each of ``cells`` (Q, K) bool, which hovers with its value and can be selected.

    Cells of a heatmap cannot be selected, and only the nearest of two traces is asked by a pointer, so the
    markers answer for the cells. ``hover`` is a template with the value as ``%{customdata}``, in thousandths.
    """
    rows, columns = np.nonzero(cells)
    # Adding 0 turns -0 into 0, which has another sign.
    thousandths = np.round(values[cells].astype(float), 3) + 0.0
    # As objects: numbers would be packed, which the browser cannot compare with what it has drawn, and of lists
    # Plotly checks each element, twice, which took 5 of the 12 ms of making a heatmap.
    return go.Scatter(
        x=(columns + first[1]).astype(object),
        y=(rows + first[0]).astype(object),
        customdata=thousandths.astype(object),
        mode="markers",
        # All markers answer, but no more than one is drawn: thousands of them would make the page slow.
        marker={"symbol": "square", "size": 6, "opacity": 0, "maxdisplayed": 1},
        hovertemplate=hover,
        showlegend=False,
        **HOVER_AXES,
    )


def outlines(selected: tuple[int, int], rows: Sequence[float], columns: Sequence[float], theme: str) -> list:
    """A frame around the row and around the column of ``selected``; both axes reach from end to end."""
    row, column = selected
    line = {"color": palette(theme).accent, "width": 2}
    spans = ((columns, (row - 0.5, row + 0.5)), ((column - 0.5, column + 0.5), rows))
    return [
        {"type": "rect", "x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1], "line": line, "layer": "above"}
        for x, y in spans
    ]


def legend_entry(name: str, colour: str, line: str, symbol: str = "square") -> go.Scatter:
    """A square in the legend that says what such a cell is."""
    marker = {"symbol": symbol, "size": 13, "color": colour, "line": {"color": line, "width": 1.5}}
    return go.Scatter(
        x=[None],
        y=[None],
        mode="markers",
        marker=marker,
        name=plain_text(name),
        showlegend=True,
        hoverinfo="skip",
    )
