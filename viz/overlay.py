"""Overlays on a heatmap: masked and padded cells, outlines, legend entries, hover axes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viz.labels import plain_text
from viz.theme import palette

# The axes on which every place has its label, for the hover; those in sight leave labels out where crowded.
HOVER_AXES = {"xaxis": "x2", "yaxis": "y2"}


def rectangle(x: Sequence[float], y: Sequence[float], colour: str, width: int) -> dict:
    """A shape: the outline from x[0] to x[1] and y[0] to y[1], ``width`` pixels wide."""
    line = {"color": colour, "width": width}
    return {"type": "rect", "x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1], "line": line}


def upright_line(x: float, line: dict) -> dict:
    """A shape: a vertical line at ``x`` through the plot; ``line`` has its colour and its width in pixels."""
    return {"type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1, "line": line}


def outlines(selected: tuple[int, int], rows: Sequence[float], columns: Sequence[float], theme: str) -> list:
    """Two rectangles, 2 pixels wide: a frame around the row and around the column of ``selected``; both axes
    reach from end to end.
    """
    row, column = selected
    spans = ((columns, (row - 0.5, row + 0.5)), ((column - 0.5, column + 0.5), rows))
    return [rectangle(x, y, palette(theme).accent, 2) | {"layer": "above"} for x, y in spans]


def legend_entry(name: str, colour: str, line: str, symbol: str = "square") -> dict:
    """A trace without points: a square in the legend with the name of such a cell."""
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


@dataclass(frozen=True)
class Hidden:
    """Masked and padded cells of a (Q, K) picture, and their names in the legend.

    A cell that is both masked and padding is drawn as padding, because it has no token.

    Example:
        >>> Hidden(masked=np.array([[False, True], [False, False]])).reasons((2, 2)).tolist()
        [['', 'masked'], ['', '']]
    """

    masked: np.ndarray | None = None  # (Q, K) bool
    padded: np.ndarray | None = None  # (Q, K) bool
    masked_name: str = "masked"
    padded_name: str = "padding"

    def cells(self, shape: tuple[int, int]) -> np.ndarray:
        """(Q, K) bool, True where either is. Raises ValueError for cells of another shape."""
        found = np.zeros(shape, bool)
        for name in ("masked", "padded"):
            given = getattr(self, name)
            if given is None:
                continue
            if np.shape(given) != shape:
                raise ValueError(f"{name} should have the shape {shape}, received {np.shape(given)}")
            found |= np.asarray(given, bool)
        return found

    def reasons(self, shape: tuple[int, int]) -> np.ndarray:
        """(Q, K) str: the reason that hides a cell, "" for a visible one."""
        found = np.full(shape, "", dtype=object)
        for cells, name in ((self.masked, self.masked_name), (self.padded, self.padded_name)):
            if cells is not None:
                found[np.asarray(cells, bool)] = name
        return found

    def areas(self, shape: tuple[int, int], theme: str) -> list[dict]:
        """The Plotly traces that draw these cells over a heatmap whose cell (q, k) lies at x = k, y = q."""
        everything = self.cells(shape)
        padded = np.zeros(shape, bool) if self.padded is None else np.asarray(self.padded, bool)
        drawn = ((everything & ~padded, "/", self.masked_name), (padded, ".", self.padded_name))
        return [_area(cells, pattern, name, theme) for cells, pattern, name in drawn if cells.any()]


def _area(cells: np.ndarray, pattern: str, name: str, theme: str) -> dict:
    """One filled rectangle for each run of ``cells`` in a row."""
    x, y = [], []
    for row, line in enumerate(cells):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], line.astype(np.int8), [0]))))
        for left, right in edges.reshape(-1, 2) - 0.5:
            x += [left, right, right, left, None]
            y += [row - 0.5, row - 0.5, row + 0.5, row + 0.5, None]
    colours = palette(theme)
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        "mode": "lines",
        "line": {"width": 0},
        "fill": "toself",
        "fillpattern": {
            "shape": pattern,
            "size": 6,
            "solidity": 0.25,
            "fgcolor": colours.hatch,
            "bgcolor": colours.gap,
        },
        "name": plain_text(name),
        "showlegend": True,
        "hoverinfo": "skip",
    }
