"""How training went: loss, development scores and learning rate over the steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from viz.labels import plain_text, template_text
from viz.theme import TITLE_HEIGHT, base_axis, base_layout, figure_title, palette

if TYPE_CHECKING:
    import pandas as pd

REQUIRED_COLUMNS = ("step", "loss", "learning_rate")

_PANEL_HEIGHT = 200
_HEAD, _FOOT = TITLE_HEIGHT + 8, 50
_SPACE_BETWEEN = 0.08


def history_curves(
    frame: pd.DataFrame,
    *,
    scores: Mapping[str, str] | None = None,
    title: str = "",
    step_title: str = "Step",
    loss_title: str = "Loss",
    score_title: str = "Development score",
    learning_rate_title: str = "Learning rate",
    theme: str = "light",
) -> go.Figure:
    """Panels that share their steps: loss, development scores where there are any, learning rate.

    Args:
        frame: one row per record with the columns step, loss, learning_rate, and a column for each
            development score. Cells may be empty (NaN) where nothing was measured.
        scores: columns of ``frame`` to draw as development scores, and their legend texts; by default every
            column whose name starts with ``dev``.

    Raises ValueError for a missing column, naming those received, and for an unknown theme.
    """
    panels = _info(frame, scores, loss_title, score_title, learning_rate_title)
    return go.Figure(_traces(panels, step_title, theme), _layout(panels, title, step_title, theme))


@dataclass(frozen=True)
class _Curve:
    name: str
    steps: np.ndarray  # (N,) only the steps at which it was measured
    values: np.ndarray  # (N,)
    is_score: bool


@dataclass(frozen=True)
class _Panel:
    title: str
    curves: tuple[_Curve, ...]


def _info(
    frame: pd.DataFrame, scores, loss_title: str, score_title: str, rate_title: str
) -> tuple[_Panel, ...]:
    if scores is None:
        scores = {name: name for name in map(str, frame.columns) if name.startswith("dev")}
    if frame.empty:
        return _Panel(loss_title, ()), _Panel(rate_title, ())
    missing = [name for name in (*REQUIRED_COLUMNS, *scores) if name not in frame.columns]
    if missing:
        raise ValueError(f"frame should have the columns {missing} too, received {list(frame.columns)}")
    loss = _Panel(loss_title, (_curve(frame, "loss", loss_title, False),))
    rate = _Panel(rate_title, (_curve(frame, "learning_rate", rate_title, False),))
    if not scores:
        return loss, rate
    measured = tuple(_curve(frame, column, name, True) for column, name in scores.items())
    return loss, _Panel(score_title, measured), rate


def _curve(frame: pd.DataFrame, column: str, name: str, is_score: bool) -> _Curve:
    rows = frame[["step", column]].dropna().astype(float)
    return _Curve(name, rows["step"].to_numpy(), rows[column].to_numpy(), is_score)


def _traces(panels: tuple[_Panel, ...], step_title: str, theme: str) -> list[go.Scatter]:
    colours = palette(theme).lines
    traces = []
    for number, panel in enumerate(panels, 1):
        for curve in panel.curves:
            # Scores are few and far between: a marker shows where one was measured.
            mode = "lines+markers" if curve.is_score else "lines"
            traces.append(
                go.Scatter(
                    x=curve.steps,
                    y=curve.values,
                    mode=mode,
                    name=plain_text(curve.name),
                    line={"color": colours[len(traces) % len(colours)], "width": 2},
                    showlegend=curve.is_score,
                    xaxis="x",
                    yaxis=f"y{number}",
                    hovertemplate=f"{template_text(curve.name)}: <b>%{{y:.4~g}}</b>"
                    f"<br>{template_text(step_title)}: %{{x:,d}}<extra></extra>",
                )
            )
    return traces


def _layout(panels: tuple[_Panel, ...], title: str, step_title: str, theme: str) -> go.Layout:
    height = _HEAD + _PANEL_HEIGHT * len(panels) + _FOOT
    share = (1 - _SPACE_BETWEEN * (len(panels) - 1)) / len(panels)
    layout = base_layout(theme) | {
        "title": figure_title(plain_text(title), height),
        "xaxis": base_axis(theme, plain_text(step_title)) | {"anchor": f"y{len(panels)}", "tickformat": ",d"},
        "height": height,
        "margin": {"t": _HEAD, "l": 64, "r": 16, "b": _FOOT},
        # Only scores are in the legend: it stands on the top edge of their panel, the second one.
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1 - share - _SPACE_BETWEEN,
            "yanchor": "bottom",
            "bgcolor": "rgba(0,0,0,0)",
        },
    }
    for index, panel in enumerate(panels):
        top = 1 - index * (share + _SPACE_BETWEEN)
        name = "yaxis" if index == 0 else f"yaxis{index + 1}"
        layout[name] = base_axis(theme, plain_text(panel.title)) | {
            "domain": [max(top - share, 0), top],
            "rangemode": "tozero",
        }
    return go.Layout(layout)
