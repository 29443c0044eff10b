"""The lengths of the two vectors that a network adds for each token: its embedding and its positional encoding."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from viz.figure import TITLE_HEIGHT, base_axis, base_layout, figure_title
from viz.labels import plain_text, template_text, token_label
from viz.theme import palette
from viz.token_axis import cell_size, column_ticks

_HEIGHT = 380
_LEGEND_HEIGHT = 64  # three entries, below one another on a phone


@dataclass(frozen=True)
class _Series:
    name: str
    values: np.ndarray  # (S,)
    colour: str
    pattern: str  # of the bars; "" is plain


def embedding_sizes(
    tokens: Sequence[str],
    embedding: np.ndarray,
    scaled: np.ndarray,
    encoding: np.ndarray,
    *,
    title: str = "",
    titles: tuple[str, str] = ("Token", "Length of the vector"),
    names: tuple[str, str, str] = ("embedding", "embedding × √D", "positional encoding"),
    theme: str = "light",
) -> go.Figure:
    """Two bars for each token, its embedding without and with the factor, and the encoding as a line. Positions count from 1.

    Args:
        tokens: (S,) labels, in the order of the sentence; repeated ones keep their own places.
        embedding, scaled, encoding: (S,) lengths.
        titles: of the axis of tokens and that of lengths.
        names: of the three in the legend and in the hover.

    Raises ValueError where the lengths differ and for an unknown theme.

    >>> figure = embedding_sizes(["가", "방"], np.array([1.0, 1.5]), np.array([16.0, 24.0]), np.array([11.0, 11.0]))
    >>> [trace.name for trace in figure.data]
    ['embedding', 'embedding × √D', 'positional encoding']
    """
    series = _series(tokens, (embedding, scaled, encoding), names, theme)
    cell = cell_size(len(tokens))
    ticks = column_ticks(tokens, cell)
    layout = base_layout(theme) | {
        "title": figure_title(plain_text(title), _HEIGHT),
        "barmode": "group",
        "bargap": 0.25,
        "xaxis": base_axis(theme, plain_text(titles[0]))
        | {
            "showgrid": False,
            "range": [0.5, max(len(tokens), 1) + 0.5],
            "tickvals": [position + 1 for position in ticks.positions],
            "ticktext": ticks.below(),
            "tickangle": ticks.angle,
            "tickfont": {"size": cell.font},
            "automargin": True,
        },
        "yaxis": base_axis(theme, plain_text(titles[1])) | {"rangemode": "tozero", "automargin": True},
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"},
        "showlegend": True,
        "height": _HEIGHT + _LEGEND_HEIGHT,
        "margin": {"t": TITLE_HEIGHT + _LEGEND_HEIGHT, "l": 50, "r": 16, "b": 50},
    }
    if not len(tokens):
        return go.Figure(layout=layout)
    plain, factor, position = series
    labels = [token_label(token) for token in tokens]
    return go.Figure([_bars(plain, labels), _bars(factor, labels), _line(position, labels)], layout)


def _series(
    tokens: Sequence[str], lengths: Iterable[ArrayLike], names: Iterable[str], theme: str
) -> list[_Series]:
    arrays = [np.asarray(each, np.float32) for each in lengths]
    if any(each.shape != (len(tokens),) for each in arrays):
        shapes = [each.shape for each in arrays]
        raise ValueError(f"each of {len(tokens)} tokens should have three lengths, received {shapes}")
    colours = palette(theme).qualitative
    looks = ((colours[0], "/"), (colours[0], ""), (colours[1], ""))
    return [_Series(name, values, *look) for name, values, look in zip(names, arrays, looks, strict=True)]


def _bars(series: _Series, labels: list[str]) -> go.Bar:
    return go.Bar(
        x0=1,
        y=series.values,
        name=plain_text(series.name),
        customdata=labels,
        marker={
            "color": series.colour,
            "pattern": {"shape": series.pattern, "size": 5, "solidity": 0.35},
            "line": {"width": 0},
        },
        hovertemplate=_hover(series),
    )


def _line(series: _Series, labels: list[str]) -> go.Scatter:
    return go.Scatter(
        x0=1,
        y=series.values,
        name=plain_text(series.name),
        customdata=labels,
        mode="lines+markers",
        marker={"size": 5, "symbol": "diamond"},
        line={"color": series.colour, "width": 3},
        hovertemplate=_hover(series),
    )


def _hover(series: _Series) -> str:
    return (
        f"<b>%{{customdata}}</b> (%{{x:d}})<br>{template_text(series.name)}: <b>%{{y:.2f}}</b><extra></extra>"
    )
