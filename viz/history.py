"""Draws how a training went: loss, development scores and learning rate over the steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from viz.cell_overlay import legend_entry
from viz.figure import TITLE_HEIGHT, base_axis, base_layout, figure_title
from viz.labels import plain_text, template_text
from viz.theme import palette

if TYPE_CHECKING:
    import pandas as pd

REQUIRED_COLUMNS = ("step", "loss", "learning_rate")

_PANEL_HEIGHT = 200
_HEAD, _FOOT = TITLE_HEIGHT + 8, 50
_SPACE_BETWEEN = 0.08
_COOLED = 0.1  # a cooling ends below this share of its highest rate


def history_curves(
    frame: pd.DataFrame,
    *,
    losses: Mapping[str, str] | None = None,
    scores: Mapping[str, str] | None = None,
    title: str = "",
    step_title: str = "Step",
    loss_title: str = "Loss",
    score_title: str = "Development score",
    learning_rate_title: str | None = "Learning rate",
    cooling_name: str | None = None,
    panel_height: float = _PANEL_HEIGHT,
    theme: str = "light",
) -> go.Figure:
    """Panels that share their steps: losses, development scores where there are any, learning rate.

    Losses fall by factors, most of it early on: their axis is logarithmic, and on one axis those of the training
    and those of other sentences can be compared.

    Args:
        frame: one row per record with the columns step, loss, learning_rate, and a column for each
            development loss or score. Cells may be empty (NaN) where nothing was measured.
        losses: columns of ``frame`` to draw as losses, and their legend texts; by default ``loss`` and every
            column whose name starts with ``dev`` and ends with ``loss``.
        scores: columns to draw as development scores; by default all others that start with ``dev``.
        learning_rate_title: None leaves the learning rate out.
        cooling_name: legend text of the bands behind all panels that mark each of ``coolings``; None marks none.
        panel_height: pixels of each panel.

    Raises ValueError for a missing column, naming those received, and for an unknown theme.

    >>> frame = pd.DataFrame({"step": [1, 2], "loss": [5.0, 3.0], "learning_rate": [0.1, 0.2], "dev_loss": [np.nan, 4.0]})
    >>> [trace.name for trace in history_curves(frame).data]
    ['Loss', 'dev_loss', 'Learning rate']
    """
    titles = (loss_title, score_title, learning_rate_title)
    panels = _info(frame, losses, scores, titles)
    layout = _layout(panels, title, step_title, panel_height, theme)
    traces = _traces(panels, step_title, theme)
    if cooling_name and not frame.empty and (bands := coolings(frame["learning_rate"].to_numpy())):
        steps, colours = frame["step"].to_numpy(), palette(theme)
        traces.append(legend_entry(cooling_name, colours.grid, colours.hatch))
        layout.shapes = [_band(steps[first], steps[last], colours.grid) for first, last in bands]
    return go.Figure(traces, layout)


def coolings(rates: np.ndarray) -> list[tuple[int, int]]:
    """The stretches of learning rates (N,) in which the rate falls, without rising in between, to less than a tenth of where it
    began: the first and the last index of each.
    """
    rises = np.flatnonzero(np.diff(rates) > 0) + 1
    found = []
    for start, end in zip((0, *rises), (*rises, len(rates)), strict=True):
        stretch = rates[start:end]
        if len(stretch) and stretch[-1] < _COOLED * stretch[0]:
            found.append((int(start + np.flatnonzero(stretch == stretch[0])[-1]), int(end - 1)))
    return found


@dataclass(frozen=True)
class _MeasuredCurve:
    name: str
    steps: np.ndarray  # (N,) only the steps at which it was measured
    values: np.ndarray  # (N,)
    is_seldom: bool  # measured only now and then


@dataclass(frozen=True)
class _CurvePanel:
    title: str
    curves: tuple[_MeasuredCurve, ...]
    is_logarithmic: bool = False

    @property
    def has_legend(self) -> bool:
        """Where the title alone does not say what is drawn."""
        return any(curve.name != self.title for curve in self.curves)


def _info(
    frame: pd.DataFrame,
    losses: Mapping[str, str] | None,
    scores: Mapping[str, str] | None,
    titles: tuple[str, str, str | None],
) -> tuple[_CurvePanel, ...]:
    loss_title, score_title, rate_title = titles
    measured = [name for name in map(str, frame.columns) if name.startswith("dev")]
    if losses is None:
        losses = {"loss": loss_title} | {name: name for name in measured if name.endswith("loss")}
    if scores is None:
        scores = {name: name for name in measured if not name.endswith("loss")}
    empty = (_CurvePanel(loss_title, (), True), *([_CurvePanel(rate_title, ())] if rate_title else ()))
    if frame.empty:
        return empty
    missing = [name for name in (*REQUIRED_COLUMNS, *losses, *scores) if name not in frame.columns]
    if missing:
        raise ValueError(
            f"frame should have the columns {list(dict.fromkeys(missing))} too, received {list(frame.columns)}"
        )
    panels = (
        _CurvePanel(loss_title, _curves(frame, losses), True),
        _CurvePanel(score_title, _curves(frame, scores)),
        _CurvePanel(rate_title or "", _curves(frame, {"learning_rate": rate_title} if rate_title else {})),
    )
    return tuple(panel for panel in panels if panel.curves) or empty


def _curves(frame: pd.DataFrame, columns: Mapping[str, str]) -> tuple[_MeasuredCurve, ...]:
    """Those of ``columns`` that have at least one measured value."""
    curves = []
    for column, name in columns.items():
        rows = frame[["step", column]].dropna().astype(float)
        if len(rows):
            seldom = column.startswith("dev")
            curves.append(_MeasuredCurve(name, rows["step"].to_numpy(), rows[column].to_numpy(), seldom))
    return tuple(curves)


def _traces(panels: tuple[_CurvePanel, ...], step_title: str, theme: str) -> list[go.Scatter]:
    colours = palette(theme).qualitative
    traces: list[go.Scatter] = []
    for number, panel in enumerate(panels, 1):
        for curve in panel.curves:
            # What is measured seldom: a marker shows where.
            mode = "lines+markers" if curve.is_seldom else "lines"
            traces.append(
                go.Scatter(
                    x=curve.steps,
                    y=curve.values,
                    mode=mode,
                    name=plain_text(curve.name),
                    line={"color": colours[len(traces) % len(colours)], "width": 2},
                    showlegend=panel.has_legend,
                    legend=_numbered("legend", number),
                    xaxis="x",
                    yaxis=f"y{number}",
                    hovertemplate=f"{template_text(curve.name)}: <b>%{{y:.4~g}}</b>"
                    f"<br>{template_text(step_title)}: %{{x:,d}}<extra></extra>",
                )
            )
    return traces


def _band(first: float, last: float, colour: str) -> dict:
    across = {"type": "rect", "yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    return across | {"x0": first, "x1": last, "fillcolor": colour, "line": {"width": 0}}


def _layout(
    panels: tuple[_CurvePanel, ...], title: str, step_title: str, panel_height: float, theme: str
) -> go.Layout:
    height = _HEAD + panel_height * len(panels) + _FOOT
    share = (1 - _SPACE_BETWEEN * (len(panels) - 1)) / len(panels)
    layout = base_layout(theme) | {
        "title": figure_title(plain_text(title), height),
        "xaxis": base_axis(theme, plain_text(step_title)) | {"anchor": f"y{len(panels)}", "tickformat": ",d"},
        "height": height,
        "margin": {"t": _HEAD, "l": 80, "r": 16, "b": _FOOT},
    }
    for number, panel in enumerate(panels, 1):
        top = 1 - (number - 1) * (share + _SPACE_BETWEEN)
        layout[_numbered("yaxis", number)] = base_axis(theme, plain_text(panel.title)) | {
            "domain": [max(top - share, 0), top],
            **({"type": "log", "dtick": 1} if panel.is_logarithmic else {"rangemode": "tozero"}),
        }
        layout[_numbered("legend", number)] = {
            "orientation": "h",
            "x": 0,
            "y": top,
            "yanchor": "bottom",
            "bgcolor": "rgba(0,0,0,0)",
        }
    return go.Layout(layout)


def _numbered(name: str, number: int) -> str:
    """Plotly counts axes and legends from 1 and leaves the first number out."""
    return name if number == 1 else f"{name}{number}"
