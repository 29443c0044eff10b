"""The reliability diagram: how sure a network was of its changes, and how often it was right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from viz.figure import TITLE_HEIGHT, base_axis, base_layout, figure_title
from viz.labels import plain_text, template_text
from viz.theme import palette

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("low", "high", "count", "mean_confidence", "share_right")

_CURVE_HEIGHT, _COUNT_HEIGHT = 320, 110
_HEAD, _FOOT = TITLE_HEIGHT + 28, 50
_SPACE_BETWEEN = 0.06


def reliability_curve(
    bins: pd.DataFrame,
    *,
    title: str = "",
    titles: tuple[str, str, str] = ("Confidence", "Share right", "Changes"),
    curve_name: str = "measured",
    diagonal_name: str = "as sure as right",
    theme: str = "light",
) -> go.Figure:
    """The reliability diagram of Guo et al. (2017), section 2, above the number of changes in each bin.

    Args:
        bins: one row per bin of confidence with the columns of COLUMNS. ``low`` and ``high`` bound the bin,
            bins may differ in width; ``mean_confidence`` and ``share_right`` are NaN where ``count`` is 0,
            and such a bin has no point.
        titles: of the confidence, of the share that was right, and of the number of changes.

    Raises ValueError for a missing column, naming those received, for shares outside 0..1, and for an unknown
    theme.

    >>> columns = ["low", "high", "count", "mean_confidence", "share_right"]
    >>> bins = pd.DataFrame([[0.0, 0.5, 10, 0.3, 0.25], [0.5, 1.0, 90, 0.9, 0.875]], columns=columns)
    >>> reliability_curve(bins).data[1].y.tolist()
    [0.25, 0.875]
    """
    info = _info(bins)
    figure = go.Figure(layout=_layout(info, title, titles, theme))
    figure.add_trace(_diagonal(diagonal_name, theme))
    if info.count.size:
        figure.add_trace(_curve(info, curve_name, titles, theme))
        figure.add_trace(_counts(info, titles, theme))
    return figure


@dataclass(frozen=True)
class _ReliabilityInfo:
    """Arrays (N,) over the bins, empty ones included."""

    low: np.ndarray
    high: np.ndarray
    count: np.ndarray
    confidence: np.ndarray
    right: np.ndarray

    @property
    def filled(self) -> np.ndarray:
        return self.count > 0


def _info(bins: pd.DataFrame) -> _ReliabilityInfo:
    if bins.empty:
        return _ReliabilityInfo(*[np.zeros(0)] * len(COLUMNS))
    missing = [name for name in COLUMNS if name not in bins.columns]
    if missing:
        raise ValueError(f"bins should have the columns {missing} too, received {list(bins.columns)}")
    info = _ReliabilityInfo(*(bins[name].to_numpy(float) for name in COLUMNS))
    for values in (info.low, info.high, info.confidence[info.filled], info.right[info.filled]):
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"confidences and shares should lie in 0..1, received {values.tolist()}")
    return info


def _diagonal(name: str, theme: str) -> go.Scatter:
    return go.Scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        name=plain_text(name),
        line={"color": palette(theme).quiet_text, "dash": "dash", "width": 1.5},
        hoverinfo="skip",
    )


def _curve(info: _ReliabilityInfo, name: str, titles: tuple[str, str, str], theme: str) -> go.Scatter:
    sure, right, changes = map(template_text, titles)
    return go.Scatter(
        x=info.confidence[info.filled],
        y=info.right[info.filled],
        customdata=info.count[info.filled],
        mode="lines+markers",
        name=plain_text(name),
        line={"color": palette(theme).qualitative[0], "width": 2},
        marker={"size": 9},
        hovertemplate=f"{sure}: <b>%{{x:.3f}}</b><br>{right}: <b>%{{y:.1%}}</b>"
        f"<br>{changes}: <b>%{{customdata:,d}}</b><extra></extra>",
    )


def _counts(info: _ReliabilityInfo, titles: tuple[str, str, str], theme: str) -> go.Bar:
    sure, _, changes = map(template_text, titles)
    return go.Bar(
        x=(info.low + info.high) / 2,
        width=info.high - info.low,
        y=info.count,
        customdata=np.stack([info.low, info.high], axis=-1),
        marker={"color": palette(theme).qualitative[0], "line": {"color": palette(theme).gap, "width": 1}},
        yaxis="y2",
        showlegend=False,
        hovertemplate=f"{sure}: <b>%{{customdata[0]:~g}}–%{{customdata[1]:~g}}</b>"
        f"<br>{changes}: <b>%{{y:,d}}</b><extra></extra>",
    )


def _layout(info: _ReliabilityInfo, title: str, titles: tuple[str, str, str], theme: str) -> go.Layout:
    height = _HEAD + _CURVE_HEIGHT + _COUNT_HEIGHT + _FOOT
    lower = _COUNT_HEIGHT / (_COUNT_HEIGHT + _CURVE_HEIGHT)
    sure, right, changes = map(plain_text, titles)
    share = {"range": [-0.02, 1.02], "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1]}
    # Nearly all changes lie in a few bins: on a linear axis the others would vanish. log10 of one change
    # is 0, so the axis begins a little below it.
    most = np.log10(max(info.count.max(initial=1), 10))
    return go.Layout(
        base_layout(theme)
        | {
            "title": figure_title(plain_text(title), height),
            "xaxis": base_axis(theme, sure) | share | {"anchor": "y2"},
            "yaxis": base_axis(theme, right)
            | share
            | {"domain": [lower + _SPACE_BETWEEN, 1], "tickformat": ".0%", "automargin": True},
            "yaxis2": base_axis(theme, changes)
            | {"domain": [0, lower], "type": "log", "range": [-0.3, most + 0.1], "dtick": 1}
            | {"tickformat": "~s", "automargin": True},
            "height": height,
            "margin": {"t": _HEAD, "l": 64, "r": 16, "b": _FOOT},
            "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)"},
        }
    )
