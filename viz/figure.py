"""Plotly figures as plain dictionaries, and the parts that many of them have.

A dictionary goes to the browser without Plotly's objects. Parts: captions, titles, outlines, masked and
padded cells, legend entries, hover axes.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, ParamSpec, Protocol, cast

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from viz.labels import plain_text
from viz.theme import FONT_FAMILY, palette, without_points

Specification = dict[str, Any]  # "data" and "layout" with the names of Plotly's schema

_Arguments = ParamSpec("_Arguments")


@dataclass(frozen=True)
class Captions:
    """The words around a chart, and its theme. A chart's docstring names its titles, hover and names in their
    order, and has its own where they are not given.

    Example:
        >>> Captions(titles=("Step", "Loss")).or_else(names=("measured",)).names
        ('measured',)
    """

    title: str = ""
    titles: tuple[str, ...] = ()  # of axes and scales
    hover: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # in the legend
    theme: str = "light"

    def or_else(
        self, titles: tuple[str, ...] = (), hover: tuple[str, ...] = (), names: tuple[str, ...] = ()
    ) -> "Captions":
        """These captions; where a group is empty, that of a chart's own."""
        return replace(
            self, titles=self.titles or titles, hover=self.hover or hover, names=self.names or names
        )


PLAIN = Captions()  # a chart's own words, in the light theme
# The kinds of typed arrays that plotly.js reads: floats, and integers of at most 4 bytes.
_PACKED = {"f4", "f8", "i1", "i2", "i4", "u1", "u2", "u4"}


class FigureFunction(Protocol[_Arguments]):
    """Returns a figure; its ``specification`` takes the same arguments."""

    specification: Callable[_Arguments, Specification]

    def __call__(self, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> go.Figure: ...


def as_figure(specification: Callable[_Arguments, Specification]) -> FigureFunction[_Arguments]:
    """Make a plotting function of one that returns a ``Specification``: it returns the same as a
    ``go.Figure``.

    Plotly checks each property of a figure, which takes several times as long as everything else. A page that
    draws a figure at each keystroke sends the ``specification`` instead; a test compares the two.
    """

    @wraps(specification)
    def figure(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> go.Figure:
        return go.Figure(specification(*args, **kwargs))

    figure.specification = specification  # type: ignore[attr-defined]
    return cast(FigureFunction[_Arguments], figure)


def to_json(figure: go.Figure | Specification) -> str:
    """As plotly.js reads it, arrays of numbers as base64. Raises ValueError for a nan outside of an array,
    TypeError for a value that JSON does not know.
    """
    if isinstance(figure, go.Figure):
        return figure.to_json()
    return json.dumps(figure, default=_plain, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray):
        raise TypeError(f"a figure should hold numbers, texts and arrays, received {value!r}")
    kind = value.dtype.newbyteorder("<")
    if kind.str[1:] not in _PACKED:
        return value.tolist()
    packed = {"dtype": kind.str[1:], "bdata": b64encode(value.astype(kind).tobytes()).decode()}
    return packed | ({"shape": ", ".join(map(str, value.shape))} if value.ndim > 1 else {})


# Rounding in float32 and averaging over heads may leave a weight this far outside 0..1.
TOLERANCE = 1e-4


def checked_array(
    named: tuple[str, str, str],
    values: ArrayLike,
    shape: tuple[int, ...],
    limits: tuple[float, float] | None = None,
    dtype: type[np.floating[Any]] = np.float32,
) -> np.ndarray:
    """``values`` as an array of this shape; anything empty where the shape has a 0.

    Args:
        named: the argument's name, its axes and what they count, for the messages.
        limits: between which the values lie, up to TOLERANCE; None allows any, nan included.

    Raises:
        ValueError: another shape, or a value beyond the limits.

    Example:
        >>> checked_array(("weights", "(Q, K)", "of the tokens"), [[0.5, 0.5]], (1, 2), (0, 1)).dtype
        dtype('float32')
    """
    name, axes, what = named
    found = np.asarray(values, dtype)
    if found.size == 0 and 0 in shape:
        found = np.zeros(shape, dtype)
    if found.shape != shape:
        raise ValueError(f"{name} should have the shape {axes} = {shape} {what}, received {found.shape}")
    if limits is None:
        return found
    lowest, highest = limits
    if not ((found >= lowest - TOLERANCE) & (found <= highest + TOLERANCE)).all():
        raise ValueError(f"{name} should lie in {lowest}..{highest}, received {found.min()} to {found.max()}")
    return found


# Pixels that stay free at the top of each figure for its title and the toolbar.
TITLE_HEIGHT = 34


def base_layout(theme: str, title: str, height: float) -> dict:
    """The part of the layout that all figures share: looks, height in pixels, and a title at the top.

    Plotly's template is empty, because a figure brings its looks itself.
    """
    colours = palette(theme)
    return {
        "template": {},
        "title": {
            "text": plain_text(title),
            "font": {"size": 16},
            "x": 0,
            "xanchor": "left",
            "yref": "container",
            "y": 1 - TITLE_HEIGHT / 2 / height,
            "yanchor": "middle",
        },
        "height": height,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT_FAMILY, "size": 13, "color": colours.text},
        "hoverlabel": {
            "bgcolor": colours.hover_background,
            "bordercolor": colours.quiet_text,
            "font": {"family": FONT_FAMILY, "size": 14, "color": colours.text},
            "align": "left",
        },
        "modebar": {
            "bgcolor": "rgba(0,0,0,0)",
            "color": colours.quiet_text,
            "activecolor": colours.accent,
        },
        # A finger that drags across the figure scrolls the page; zooming is done with the toolbar's buttons.
        "dragmode": False,
        "hovermode": "closest",
    }


def base_axis(theme: str, title: str, **parts: Any) -> dict:
    """An axis with the looks that all figures share, and its own ``parts``, which come last."""
    colours = palette(theme)
    return {
        # A standoff makes Plotly measure the tick labels, so that long ones do not run into the title.
        "title": {
            "text": plain_text(title),
            "standoff": 8,
            "font": {"size": 13, "color": colours.quiet_text},
        },
        "gridcolor": colours.grid,
        "linecolor": colours.grid,
        "ticks": "",
        "zeroline": False,
        # Plotly would look again and again whether a label leaves the figure: half of the time it takes to
        # draw.
        "ticklabeloverflow": "allow",
        **parts,
    }


def weight_scale(title: str, height: float) -> dict:
    """A colour bar of 220 pixels that lies across the top, below the title, where it takes no width from
    narrow screens.
    """
    return {
        "orientation": "h",
        "lenmode": "pixels",
        "len": 220,
        "thickness": 10,
        "x": 0,
        "xanchor": "left",
        "xpad": 0,
        "yref": "container",
        "y": 1 - TITLE_HEIGHT / height,
        "yanchor": "top",
        "ypad": 0,
        "title": {"text": plain_text(title), "side": "right", "font": {"size": 13}},
        "tickangle": 0,
        "outlinewidth": 0,
    }


def legend_across(y: float, yanchor: str, *, container: bool = False, fixed: bool = False) -> dict:
    """A legend in a row from the left edge.

    Args:
        y: share of the plot's height, or of the figure's with ``container``.
        yanchor: "top" or "bottom", the part of the legend that is at ``y``.
        fixed: whether a click on an entry hides nothing.

    Example:
        >>> legend_across(1, "bottom")["orientation"]
        'h'
    """
    legend = {"orientation": "h", "x": 0, "y": y, "yanchor": yanchor, "bgcolor": "rgba(0,0,0,0)"}
    legend |= {"yref": "container"} if container else {}
    return legend | ({"itemclick": False, "itemdoubleclick": False} if fixed else {})


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
    return without_points(marker) | {"name": plain_text(name), "showlegend": True, "hoverinfo": "skip"}


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
