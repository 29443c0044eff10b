"""Attention over a row of tokens as bars, one panel for each head, with some of the tokens outlined."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from viz.figure import TITLE_HEIGHT, base_axis, base_layout, figure_title
from viz.labels import plain_text, template_text, token_label
from viz.theme import palette
from viz.token_axis import ColumnTicks, cell_size, column_ticks

_PANEL, _NAME, _FOOT = 84, 26, 40  # pixels: one panel, the name above it, what is below the last one
_LEGEND = 26
_TOLERANCE = 1e-4


def attention_bars(
    weights: np.ndarray,
    tokens: Sequence[str],
    names: Sequence[str],
    *,
    outlined: Sequence[int] = (),
    outlined_title: str = "outlined",
    first: int = 0,
    title: str = "",
    token_title: str = "Key",
    hover: tuple[str, str] = ("Key", "Weight"),
    theme: str = "light",
) -> go.Figure:
    """Bars of attention over the same tokens for R heads; bar k lies at x = first + k.

    All panels share one scale, from 0 to the largest weight. An outline encloses the whole column, so it
    shows where nobody looks, too, and needs no colour to be seen.

    Args:
        weights: (R, K) floats in 0..1.
        tokens: K tokens as they were typed; they are escaped here. ``names``: R names of the panels.
        outlined: columns in 0..K-1 to be enclosed; their labels are bold.
        first: the position of the first token, where the tokens are a window of a sentence.
        hover: names of the token and the weight.

    Raises ValueError for shapes that do not fit each other, weights outside 0..1, an outlined column that
    does not exist, and an unknown theme.

    >>> figure = attention_bars(np.array([[0.75, 0.25], [0.5, 0.5]]), ["가", "방"], ["head 1", "head 2"], outlined=[0])
    >>> [trace.y.tolist() for trace in figure.data if trace.type == "bar"]
    [[0.75, 0.25], [0.5, 0.5]]
    """
    info = _info(weights, tokens, names, outlined, first)
    figure = go.Figure(layout=_layout(info, title, token_title, theme))
    for row in range(len(info.names)):
        figure.add_trace(_bars(info, row, hover, theme))
        if info.outlined:
            figure.add_trace(_outline(info, row, outlined_title, theme))
    return figure


@dataclass(frozen=True)
class _BarsInfo:
    weights: np.ndarray  # (R, K) float32
    tokens: tuple[str, ...]  # (K,)
    names: tuple[str, ...]  # (R,)
    outlined: tuple[int, ...]  # columns, in order
    first: int

    @property
    def highest(self) -> float:
        return float(self.weights.max(initial=0)) or 1.0

    @property
    def runs(self) -> list[tuple[int, int]]:
        """(first, last) column of each run of neighbouring outlined columns."""
        cells = np.zeros(len(self.tokens) + 2, np.int8)
        cells[np.array(self.outlined, int) + 1] = 1
        edges = np.flatnonzero(np.diff(cells)).reshape(-1, 2)
        return [(int(start), int(end) - 1) for start, end in edges]


def _info(
    weights: ArrayLike, tokens: Sequence[str], names: Sequence[str], outlined: Sequence[int], first: int
) -> _BarsInfo:
    weights = np.asarray(weights, dtype=np.float32)
    expected = (len(names), len(tokens))
    if weights.size == 0 and 0 in expected:
        weights = np.zeros(expected, np.float32)
    if weights.shape != expected:
        raise ValueError(
            f"weights should have the shape (R, K) = {expected} of names and tokens, received {weights.shape}"
        )
    if weights.size and not (weights.min() >= -_TOLERANCE and weights.max() <= 1 + _TOLERANCE):
        raise ValueError(f"weights should lie in 0..1, received {weights.min()} to {weights.max()}")
    strange = [column for column in outlined if not 0 <= column < expected[1]]
    if strange:
        raise ValueError(f"outlined should lie in 0..{expected[1] - 1}, received {strange}")
    return _BarsInfo(weights, tuple(tokens), tuple(names), tuple(sorted(set(outlined))), first)


def _axis(row: int) -> str:
    return "y" if row == 0 else f"y{row + 1}"


def _bars(info: _BarsInfo, row: int, hover: tuple[str, str], theme: str) -> go.Bar:
    token_name, weight_name = map(template_text, hover)
    return go.Bar(
        x=np.arange(len(info.tokens)) + info.first,
        y=info.weights[row],
        text=[token_label(token) for token in info.tokens],
        textposition="none",
        width=0.8,
        marker={"color": palette(theme).sequential[3], "line": {"width": 0}},
        yaxis=_axis(row),
        name=plain_text(info.names[row]),
        showlegend=False,
        hovertemplate=f"{token_name} %{{x:d}}: <b>%{{text}}</b><br>{weight_name}: <b>%{{y:.3f}}</b>"
        "<extra></extra>",
    )


def _outline(info: _BarsInfo, row: int, title: str, theme: str) -> go.Scatter:
    x, y = [], []
    for start, end in info.runs:
        left, right = start + info.first - 0.47, end + info.first + 0.47
        x += [left, left, right, right, left, None]
        y += [0, info.highest, info.highest, 0, 0, None]
    return go.Scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": palette(theme).accent, "width": 2},
        yaxis=_axis(row),
        name=plain_text(title),
        showlegend=row == 0,
        hoverinfo="skip",
    )


def _height(info: _BarsInfo) -> float:
    return _above(info) + max(len(info.names), 1) * (_PANEL + _NAME) + _ticks(info).height + _FOOT


def _above(info: _BarsInfo) -> float:
    """Pixels above the panels."""
    return TITLE_HEIGHT + (_LEGEND if info.outlined else 0)


def _ticks(info: _BarsInfo) -> ColumnTicks:
    return column_ticks(info.tokens, cell_size(len(info.tokens)))


def _layout(info: _BarsInfo, title: str, token_title: str, theme: str) -> go.Layout:
    height = _height(info)
    return go.Layout(
        base_layout(theme)
        | _weight_axes(info, theme)
        | {
            "title": figure_title(plain_text(title), height),
            "xaxis": _token_axis(info, token_title, theme),
            "height": height,
            "margin": {"t": _above(info), "l": 40, "r": 16, "b": _ticks(info).height + _FOOT},
            "annotations": [_name(info, row) for row in range(len(info.names))],
            "legend": {
                "x": 0,
                "xanchor": "left",
                "yref": "container",
                "y": 1 - TITLE_HEIGHT / height,
                "yanchor": "top",
                "itemclick": False,
                "itemdoubleclick": False,
                "bgcolor": "rgba(0,0,0,0)",
            },
        }
    )


def _top(info: _BarsInfo, row: int) -> float:
    """Where a panel begins, as a share of the height of all panels; 1 is the top."""
    return 1 - (row + _NAME / (_PANEL + _NAME)) / max(len(info.names), 1)


def _weight_axes(info: _BarsInfo, theme: str) -> dict:
    panels = max(len(info.names), 1)
    share = _PANEL / (_PANEL + _NAME) / panels
    return {
        f"yaxis{row + 1}": base_axis(theme, "")
        | {
            # A little room above and below, so that no outline is cut in half.
            "range": [-0.02 * info.highest, 1.04 * info.highest],
            "domain": [max(_top(info, row) - share, 0), _top(info, row)],
            "nticks": 4,
            "tickformat": "~g",
            "automargin": True,
        }
        for row in range(panels)
    }


def _token_axis(info: _BarsInfo, title: str, theme: str) -> dict:
    ticks = _ticks(info)
    return base_axis(theme, plain_text(title)) | {
        "anchor": _axis(max(len(info.names), 1) - 1),
        "range": [info.first - 0.5, info.first + max(len(info.tokens), 1) - 0.5],
        "tickmode": "array",
        "tickvals": [column + info.first for column in ticks.positions],
        "ticktext": ticks.below(info.outlined),
        "tickangle": ticks.angle,
        "tickfont": {"size": cell_size(len(info.tokens)).font},
        "showgrid": False,
    }


def _name(info: _BarsInfo, row: int) -> dict:
    """The name above a panel."""
    return {
        "text": plain_text(info.names[row]),
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "y": _top(info, row),
        "yref": "paper",
        "yanchor": "bottom",
        "yshift": 2,
        "showarrow": False,
    }
