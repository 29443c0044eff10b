"""What is drawn over the cells of an attention map: outlines, legend entries, and the axes that the hover uses."""

from collections.abc import Sequence

from viz.labels import plain_text
from viz.theme import palette

# The axes on which every place has its label, for the hover; those in sight leave labels out where crowded.
HOVER_AXES = {"xaxis": "x2", "yaxis": "y2"}


def outlines(selected: tuple[int, int], rows: Sequence[float], columns: Sequence[float], theme: str) -> list:
    """A frame around the row and around the column of ``selected``; both axes reach from end to end."""
    row, column = selected
    line = {"color": palette(theme).accent, "width": 2}
    spans = ((columns, (row - 0.5, row + 0.5)), ((column - 0.5, column + 0.5), rows))
    return [
        {"type": "rect", "x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1], "line": line, "layer": "above"}
        for x, y in spans
    ]


def legend_entry(name: str, colour: str, line: str, symbol: str = "square") -> dict:
    """A trace: a square in the legend that says what such a cell is."""
    marker = {"symbol": symbol, "size": 13, "color": colour, "line": {"color": line, "width": 1.5}}
    return {
        "type": "scatter",
        "x": [None],
        "y": [None],
        "mode": "markers",
        "marker": marker,
        "name": plain_text(name),
        "showlegend": True,
        "hoverinfo": "skip",
    }
