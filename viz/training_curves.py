"""Training curves: losses and scores over the steps, and the roles of heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from viz.axes import named_axis
from viz.figure import (
    PLAIN,
    TITLE_HEIGHT,
    Captions,
    base_axis,
    base_layout,
    legend_across,
    legend_entry,
    upright_line,
)
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
    panel_height: float = _PANEL_HEIGHT,
    captions: Captions = PLAIN,
) -> go.Figure:
    """Panels that share their steps: losses, development scores if measured, learning rate.

    Losses fall by factors, most of it early on: their axis is logarithmic, and on one axis those of the
    training and those of other sentences can be compared.

    Args:
        frame: one row per record with the columns step, loss, learning_rate, and a column for each
            development loss or score. Cells may be empty (NaN) where nothing was measured.
        losses: columns of ``frame`` to draw as losses, and their legend texts; by default ``loss`` and every
            column whose name starts with ``dev`` and ends with ``loss``.
        scores: columns to draw as development scores; by default all others that start with ``dev``.
        panel_height: pixels of each panel.
        captions: titles of step, loss, development score and learning rate, of which an empty one leaves the
            learning rate out; a name of the bands behind all panels that mark ``coolings``, if any.

    Raises:
        ValueError: a missing column, naming those received, and for an unknown theme.

    Example:
        >>> frame = pd.DataFrame({"step": [1, 2], "loss": [5.0, 3.0], "learning_rate": [0.1, 0.2]})
        >>> frame["dev_loss"] = [np.nan, 4.0]
        >>> [trace.name for trace in history_curves(frame).data]
        ['Loss', 'dev_loss', 'Learning rate']
    """
    captions = captions.or_else(("Step", "Loss", "Development score", "Learning rate"))
    (step_title, *titles), theme = captions.titles, captions.theme
    panels = _info(frame, losses, scores, titles)
    layout = _layout(panels, captions.title, step_title, panel_height, theme)
    traces = _traces(panels, step_title, theme)
    cooling_name = next(iter(captions.names), "")
    if cooling_name and not frame.empty and (bands := coolings(frame["learning_rate"].to_numpy())):
        steps, colours = frame["step"].to_numpy(), palette(theme)
        traces.append(legend_entry(cooling_name, colours.grid, colours.hatch))
        layout.shapes = [_band(steps[first], steps[last], colours.grid) for first, last in bands]
    return go.Figure(traces, layout)


def coolings(rates: np.ndarray) -> list[tuple[int, int]]:
    """The stretches of learning rates (N,) in which the rate falls, without rising in between, to less than a
    tenth of where it began: the first and the last index of each.
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
        """Whether the curves have other names than the panel."""
        return any(curve.name != self.title for curve in self.curves)


def _info(
    frame: pd.DataFrame,
    losses: Mapping[str, str] | None,
    scores: Mapping[str, str] | None,
    titles: Sequence[str],
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
            f"frame should have the columns {list(dict.fromkeys(missing))} too, "
            f"received {list(frame.columns)}"
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
            # Few measurements: a marker shows each.
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
    layout = base_layout(theme, title, height) | {
        "xaxis": base_axis(theme, step_title, anchor=f"y{len(panels)}", tickformat=",d"),
        "margin": {"t": _HEAD, "l": 80, "r": 16, "b": _FOOT},
    }
    for number, panel in enumerate(panels, 1):
        top = 1 - (number - 1) * (share + _SPACE_BETWEEN)
        layout[_numbered("yaxis", number)] = base_axis(
            theme,
            panel.title,
            domain=[max(top - share, 0), top],
            **({"type": "log", "dtick": 1} if panel.is_logarithmic else {"rangemode": "tozero"}),
        )
        layout[_numbered("legend", number)] = legend_across(top, "bottom")
    return go.Layout(layout)


def _numbered(name: str, number: int) -> str:
    """Plotly counts axes and legends from 1 and leaves the first number out."""
    return name if number == 1 else f"{name}{number}"


_HEIGHT, _LEAST, _GROWTH_HEAD, _GROWTH_FOOT = 440, 270, 4, 56  # pixels
_LOSS_SHARE, _BETWEEN = 0.28, 0.1  # of the room for both panels
_MOST_LABELS = 12  # labels of snapshots below a narrow picture
_DASHES = ("solid", "dash", "dot", "dashdot")


def growth_curves(
    steps: Sequence[int],
    losses: Sequence[float],
    scores: Sequence[float],
    shares: np.ndarray,
    names: Sequence[str],
    *,
    at: int | None = None,
    title: str = "",
    step_title: str = "Step",
    loss_title: str = "Loss",
    score_title: str = "Score",
    share_title: str = "Share",
    theme: str = "light",
) -> go.Figure:
    """Two panels over N snapshots, at equal distances: the loss with the score, whose axis is on the
    right, and a line for each of H heads.

    Args:
        steps: N training steps. ``losses``: N, and ``scores``: N in 0..1; NaN where none was measured.
        shares: (N, H) floats in 0..1, NaN where not measured. ``names``: H names of the heads.
        at: the number of a snapshot, from 0, that a line through both panels marks.

    Raises:
        ValueError: shapes that do not fit each other, shares outside 0..1, a snapshot that does not
            exist, and an unknown theme.

    Example:
        >>> shares = np.array([[0.1, 0.1], [0.4, 0.2], [0.9, 0.1]])  # of two heads at three snapshots
        >>> losses, scores = [5.0, 1.0, 0.2], [0.0, 0.3, 0.8]
        >>> figure = growth_curves([0, 100, 1000], losses, scores, shares, ["head 1", "head 2"])
        >>> [trace.name for trace in figure.data][2:]
        ['head 1', 'head 2']
    """
    if at is not None and not 0 <= at < len(steps):
        raise ValueError(f"at should lie in 0..{len(steps) - 1}, received {at}")
    curves, shares = _checked(steps, losses, scores, shares, names)
    colours = palette(theme)
    places = list(range(1, len(steps) + 1))
    shown = [f"{step:,}" for step in steps]
    titles = title, step_title, loss_title, score_title, share_title
    figure = go.Figure(layout=_growth_layout(shown, at, titles, theme))
    of_all = (("y", loss_title, colours.text, "solid"), ("y3", score_title, colours.qualitative[0], "dot"))
    for (axis, name, colour, dash), values in zip(of_all, curves, strict=True):
        figure.add_trace(
            go.Scatter(
                x=places,
                y=values,
                text=shown,
                mode="lines+markers",
                line={"color": colour, "width": 2, "dash": dash},
                yaxis=axis,
                showlegend=False,
                hovertemplate=f"{template_text(step_title)} %{{text}}<br>{template_text(name)}: "
                "<b>%{y:.3f}</b><extra></extra>",
            )
        )
    for number, name in enumerate(names):
        figure.add_trace(
            go.Scatter(
                x=places,
                y=shares[:, number],
                text=shown,
                mode="lines",
                name=plain_text(name),
                line={
                    "color": colours.qualitative[number % len(colours.qualitative)],
                    "dash": _DASHES[number // len(colours.qualitative) % len(_DASHES)],
                    "width": 2,
                },
                yaxis="y2",
                hovertemplate=f"{template_text(name)}<br>{template_text(step_title)} %{{text}}<br>"
                f"{template_text(share_title)}: <b>%{{y:.2f}}</b><extra></extra>",
            )
        )
    return figure


def _checked(
    steps: Sequence[int],
    losses: Sequence[float],
    scores: Sequence[float],
    shares: np.ndarray,
    names: Sequence[str],
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Losses (N,) and scores (N,), and the shares (N, H)."""
    shares = np.asarray(shares, np.float32).reshape(len(steps), len(names))
    measured = {"losses": np.asarray(losses, np.float32), "scores": np.asarray(scores, np.float32)}
    for name, values in measured.items():
        if values.shape != (len(steps),):
            raise ValueError(f"{name} should be ({len(steps)},) as the steps are, received {values.shape}")
    if ((shares < 0) | (shares > 1 + 1e-4)).any():
        raise ValueError(f"shares should lie in 0..1, received {np.nanmin(shares)} to {np.nanmax(shares)}")
    return (measured["losses"], measured["scores"]), shares


def _growth_layout(
    shown: list[str], at: int | None, titles: tuple[str, str, str, str, str], theme: str
) -> dict:
    title, step_title, loss_title, score_title, share_title = titles
    colours = palette(theme)
    share_top = 1 - _LOSS_SHARE - _BETWEEN
    every = 1 + len(shown) // _MOST_LABELS  # counted from the last, which matters most
    labels = [step if (len(shown) - 1 - n) % every == 0 else "" for n, step in enumerate(shown)]
    marker = upright_line((at or 0) + 1, {"color": colours.accent, "width": 2})
    return base_layout(theme, title, _HEIGHT) | {
        "xaxis": named_axis(
            theme,
            step_title,
            labels,
            range(1, len(shown) + 1),
            anchor="y2",
            range=[0.5, max(len(shown), 1) + 0.5],
            tickangle=-45,
            fixedrange=True,
        ),
        "yaxis": base_axis(
            theme, loss_title, domain=[1 - _LOSS_SHARE, 1], type="log", dtick=1, fixedrange=True
        ),
        "yaxis3": base_axis(
            theme,
            score_title,
            overlaying="y",
            side="right",
            tickmode="array",
            tickvals=[0, 0.5, 1],
            range=[-0.05, 1.05],
            showgrid=False,
            color=colours.qualitative[0],
            fixedrange=True,
        ),
        "yaxis2": base_axis(theme, share_title, domain=[0, share_top], range=[-0.02, 1.02], fixedrange=True),
        "shapes": [] if at is None else [marker],
        "height": TITLE_HEIGHT + _HEIGHT,
        "margin": {"t": TITLE_HEIGHT + _GROWTH_HEAD, "l": 64, "r": 16, "b": _GROWTH_FOOT},
        "legend": {
            "orientation": "v",
            "x": 1.01,
            "y": share_top,
            "yanchor": "top",
            "bgcolor": "rgba(0,0,0,0)",
        },
        "meta": {"fit": "fill", "least": _LEAST},
    }
