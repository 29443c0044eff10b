"""How much a token's vector changes when the token moves, compared with putting another token in its place."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.figure import TITLE_HEIGHT, base_axis, base_layout, figure_title
from viz.labels import plain_text, template_text, visible_token
from viz.theme import palette

_HEIGHT = 360
_DASHES = ("dash", "dot", "dashdot", "longdash")
_LEGEND_HEIGHT = 48


@dataclass(frozen=True)
class ShiftReference:
    """A token that stands in the place of the one that moves, as a level line.

    >>> ShiftReference("방", 5.0).token
    '방'
    """

    token: str
    value: float


def position_shift(
    moved: np.ndarray,
    others: Sequence[ShiftReference] = (),
    *,
    title: str = "",
    titles: tuple[str, str] = ("Positions moved", "Distance"),
    moved_name: str = "the same token, moved",
    other_name: str = "{token} in its place",
    theme: str = "light",
) -> go.Figure:
    """A measure of a moved token against how far it moved, and the same measure of ``others`` that did not.

    Args:
        moved: (P,) floats, the measure after 0, 1, 2, … positions.
        others: at most a few; each gets its own colour and dash.
        titles: of the axis of positions and of the measure, also in the hover.
        moved_name, other_name: legend texts; ``{token}`` is where the token goes.

    Raises ValueError for another rank and for an unknown theme.

    >>> figure = position_shift(np.array([0.0, 1.0, 2.0]), [ShiftReference("방", 5.0)])
    >>> [trace.name for trace in figure.data]
    ['the same token, moved', '방 in its place']
    """
    moved = np.asarray(moved, np.float32)
    if moved.ndim != 1:
        raise ValueError(f"moved should have the shape (P,), received {moved.shape}")
    layout = base_layout(theme) | {
        "title": figure_title(plain_text(title), _HEIGHT),
        "xaxis": base_axis(theme, plain_text(titles[0])),
        "yaxis": base_axis(theme, plain_text(titles[1])) | {"rangemode": "tozero", "automargin": True},
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"},
        "showlegend": True,
        "height": _HEIGHT + _LEGEND_HEIGHT,
        "margin": {"t": TITLE_HEIGHT + _LEGEND_HEIGHT, "l": 50, "r": 16, "b": 50},
    }
    if not moved.size:
        return go.Figure(layout=layout)
    names = [other_name.replace("{token}", visible_token(other.token)) for other in others]
    levels = [
        _level(other, name, len(moved), index, titles, theme)
        for index, (other, name) in enumerate(zip(others, names, strict=True))
    ]
    return go.Figure([_curve(moved, moved_name, titles, theme), *levels], layout)


def _curve(moved: np.ndarray, name: str, titles: tuple[str, str], theme: str) -> go.Scatter:
    shift_name, value_name = (template_text(text) for text in titles)
    return go.Scatter(
        x0=0,
        dx=1,
        y=moved,
        mode="lines",
        name=plain_text(name),
        line={"color": palette(theme).qualitative[0], "width": 3},
        hovertemplate=f"{template_text(name)}<br>{shift_name}: <b>%{{x:d}}</b>"
        f"<br>{value_name}: <b>%{{y:.3f}}</b><extra></extra>",
    )


def _level(
    other: ShiftReference, name: str, positions: int, index: int, titles: tuple[str, str], theme: str
) -> go.Scatter:
    colours = palette(theme).qualitative[1:]
    return go.Scatter(
        x=[0, max(positions - 1, 1)],
        y=[other.value, other.value],
        mode="lines",
        name=plain_text(name),
        line={"color": colours[index % len(colours)], "width": 2, "dash": _DASHES[index % len(_DASHES)]},
        hovertemplate=f"{template_text(name)}<br>{template_text(titles[1])}: <b>%{{y:.3f}}</b><extra></extra>",
    )
