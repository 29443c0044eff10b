"""One attention map as a heatmap: who asks in the rows, what is looked at in the columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.labels import plain_text, template_text, token_label
from viz.theme import (
    TITLE_HEIGHT,
    base_axis,
    base_layout,
    colour_scale,
    figure_title,
    palette,
    weight_scale,
)
from viz.token_axis import CellSize, ColumnTicks, cell_size, column_ticks

# Rounding in float32 and averaging over heads may leave a weight this far outside 0..1.
TOLERANCE = 1e-4

# Pixels below the title: colour scale and legend, the name of the columns; then come their labels.
_SCALE_HEIGHT = 40
_NAME_HEIGHT = 30
_FOOT = 12


def attention_heatmap(
    weights: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    title: str = "",
    query_title: str = "Query",
    key_title: str = "Key",
    hover: tuple[str, str, str] = ("Query", "Key", "Weight"),
    masked: np.ndarray | None = None,
    masked_title: str = "masked",
    emphasis_rows: Sequence[int] = (),
    theme: str = "light",
    colour_max: float | None = 1.0,
) -> go.Figure:
    """Heatmap of one attention map; row 0 is at the top, and cell (q, k) lies at x = k, y = q.

    Args:
        weights: (Q, K) floats in 0..1.
        query_tokens, key_tokens: Q and K tokens as they were typed; they are escaped here.
        hover: names of query, key and weight in the hover, in the reader's language. The number beside a
            token is its position, counted from 0 as in the positional encoding.
        masked: (Q, K) bool, True where the mask forbids looking. Such cells hold exactly 0 and are hatched,
            so that they differ from weights that are merely small.
        emphasis_rows: rows whose labels are bold and coloured, such as the changed characters.
        colour_max: the weight of the strongest colour; None takes the largest weight in the map.

    Raises ValueError for shapes that do not fit each other, weights outside 0..1, a masked cell that holds
    weight, a row to emphasise that does not exist, a colour_max that is not positive, and an unknown theme.
    """
    info = _info(weights, query_tokens, key_tokens, masked, emphasis_rows, colour_max)
    cell = cell_size(len(info.key_tokens))
    figure = go.Figure(layout=_layout(info, cell, title, query_title, key_title, theme))
    if info.weights.size:
        figure.add_trace(_heatmap(info, cell, hover, masked_title, theme))
    if info.masked is not None and info.masked.any():
        figure.add_trace(_hatching(info.masked, masked_title, theme))
    return figure


@dataclass(frozen=True)
class _AttentionInfo:
    weights: np.ndarray  # (Q, K) float32
    query_tokens: tuple[str, ...]  # (Q,)
    key_tokens: tuple[str, ...]  # (K,)
    masked: np.ndarray | None  # (Q, K) bool
    emphasis_rows: frozenset[int]
    colour_max: float


def _info(weights, query_tokens, key_tokens, masked, emphasis_rows, colour_max) -> _AttentionInfo:
    weights = np.asarray(weights, dtype=np.float32)
    expected = (len(query_tokens), len(key_tokens))
    if weights.size == 0 and 0 in expected:
        weights = np.zeros(expected, np.float32)
    if weights.shape != expected:
        raise ValueError(
            f"weights should have the shape (Q, K) = {expected} of the tokens, received {weights.shape}"
        )
    if weights.size and not (weights.min() >= -TOLERANCE and weights.max() <= 1 + TOLERANCE):
        raise ValueError(f"weights should lie in 0..1, received {weights.min()} to {weights.max()}")
    if masked is not None:
        masked = _checked_mask(masked, weights)
    strange = [row for row in emphasis_rows if not 0 <= row < expected[0]]
    if strange:
        raise ValueError(f"emphasis_rows should lie in 0..{expected[0] - 1}, received {strange}")
    if colour_max is None:
        colour_max = float(weights.max(initial=0)) or 1.0
    if not colour_max > 0:
        raise ValueError(f"colour_max should be positive, received {colour_max}")
    return _AttentionInfo(
        weights, tuple(query_tokens), tuple(key_tokens), masked, frozenset(emphasis_rows), colour_max
    )


def _checked_mask(masked, weights: np.ndarray) -> np.ndarray:
    masked = np.asarray(masked, dtype=bool)
    if masked.size == 0 and weights.size == 0:
        return np.zeros(weights.shape, bool)
    if masked.shape != weights.shape:
        raise ValueError(f"masked should have the shape of weights {weights.shape}, received {masked.shape}")
    if (weights[masked] != 0).any():
        raise ValueError(f"masked cells should hold exactly 0, received up to {weights[masked].max()}")
    return masked


def _heatmap(
    info: _AttentionInfo, cell: CellSize, hover: tuple[str, str, str], masked_title: str, theme: str
) -> go.Heatmap:
    query_name, key_name, weight_name = (template_text(name) for name in hover)
    # The hover reads the query from its tick; the key's tick may hold line breaks, so the key comes as text.
    keys = [token_label(token) for token in info.key_tokens]
    text = [keys] * len(info.query_tokens)
    if info.masked is not None:
        noted = [f"{key} ({plain_text(masked_title)})" for key in keys]
        text = np.where(info.masked, noted, text).tolist()
    return go.Heatmap(
        z=info.weights,
        text=text,
        zmin=0,
        zmax=info.colour_max,
        colorscale=colour_scale(palette(theme).sequential),
        xgap=int(cell.square),
        ygap=int(cell.square),
        hovertemplate=f"{query_name} %{{y:d}}: <b>%{{y}}</b><br>{key_name} %{{x:d}}: <b>%{{text}}</b>"
        f"<br>{weight_name}: <b>%{{z:.3f}}</b><extra></extra>",
        colorbar=weight_scale(plain_text(hover[2]), _height(info, cell)) | {"tickformat": "~g", "nticks": 5},
    )


def _hatching(masked: np.ndarray, masked_title: str, theme: str) -> go.Scatter:
    """All masked cells as one hatched area: a rectangle for each run of masked cells in a row."""
    x, y = [], []
    for row, cells in enumerate(masked):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], cells.astype(np.int8), [0]))))
        for left, right in edges.reshape(-1, 2) - 0.5:
            x += [left, right, right, left, None]
            y += [row - 0.5, row - 0.5, row + 0.5, row + 0.5, None]
    colours = palette(theme)
    return go.Scatter(
        x=x,
        y=y,
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillpattern={
            "shape": "/",
            "size": 6,
            "solidity": 0.25,
            "fgcolor": colours.hatch,
            "bgcolor": colours.gap,
        },
        name=plain_text(masked_title),
        showlegend=True,
        hoverinfo="skip",
    )


def _head(columns: ColumnTicks) -> float:
    return TITLE_HEIGHT + _SCALE_HEIGHT + _NAME_HEIGHT + columns.height


def _height(info: _AttentionInfo, cell: CellSize) -> float:
    rows = max(len(info.query_tokens), 1) * cell.height
    return _head(column_ticks(info.key_tokens, cell)) + rows + _FOOT


def _layout(
    info: _AttentionInfo, cell: CellSize, title: str, query_title: str, key_title: str, theme: str
) -> go.Layout:
    colours = palette(theme)
    columns = column_ticks(info.key_tokens, cell)
    height = _height(info, cell)
    key_axis = base_axis(theme, plain_text(key_title)) | {
        "side": "top",
        "range": [-0.5, max(len(info.key_tokens), 1) - 0.5],
        "tickmode": "array",
        "tickvals": columns.positions,
        "ticktext": columns.labels,
        "tickangle": columns.angle,
        "tickfont": {"size": cell.font},
        "showgrid": False,
        "constrain": "domain",
        "constraintoward": "left",
    }
    query_axis = base_axis(theme, plain_text(query_title)) | {
        "range": [max(len(info.query_tokens), 1) - 0.5, -0.5],
        "tickmode": "array",
        "tickvals": list(range(len(info.query_tokens))),
        "ticktext": [
            _emphasised(token_label(token), colours.accent)
            if row in info.emphasis_rows
            else token_label(token)
            for row, token in enumerate(info.query_tokens)
        ],
        "tickfont": {"size": cell.font},
        "showgrid": False,
        "automargin": True,
        "constrain": "domain",
        "constraintoward": "top",
    }
    if cell.square:
        query_axis |= {"scaleanchor": "x", "scaleratio": 1}
    return go.Layout(
        base_layout(theme)
        | {
            "title": figure_title(plain_text(title), height),
            "xaxis": key_axis,
            "yaxis": query_axis,
            "height": height,
            "margin": {"t": _head(columns), "l": 40, "r": 16, "b": _FOOT},
            "plot_bgcolor": colours.grid if info.weights.size else "rgba(0,0,0,0)",
            "legend": {
                "x": 1,
                "xanchor": "right",
                "yref": "container",
                "y": 1 - TITLE_HEIGHT / height,
                "yanchor": "top",
                "itemclick": False,
                "itemdoubleclick": False,
                "bgcolor": "rgba(0,0,0,0)",
            },
        }
    )


def _emphasised(label: str, colour: str) -> str:
    return f'<b><span style="color:{colour}">{label}</span></b>'
