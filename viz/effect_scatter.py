"""A scatter plot of heads: how much each looks at an edit, and how much the edit depends on it."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from viz.figure import TITLE_HEIGHT, base_axis, base_layout, figure_title
from viz.labels import plain_text, template_text
from viz.mosaic_layout import MosaicHead
from viz.theme import palette

_SYMBOLS = ("circle", "square", "diamond", "cross", "x")
_ROUNDING = 0.01  # attention to several tokens is a sum, in half precision a little more than 1
_LEGEND = 46  # pixels of its two lines on a phone
_LEAST_HEIGHT = 260
_SCATTER_HEIGHT = 420

Points = tuple[np.ndarray, np.ndarray, list[MosaicHead]]  # attention (N,), effects (N,), N heads


def attention_effect_scatter(
    attention: Sequence[float],
    effects: Sequence[float],
    heads: Sequence[MosaicHead],
    *,
    names: Mapping[str, str] | None = None,
    chosen: Collection[MosaicHead] = (),
    title: str = "",
    attention_title: str = "Attention to the edit (observed)",
    effect_title: str = "Change without the head, in nats (intervened)",
    layer_title: str = "Layer",
    head_title: str = "Head",
    theme: str = "light",
) -> go.Figure:
    """A point for each of N heads: how much it looks at an edit, and what its removal changes there.

    Kinds of attention differ in colour and in symbol; a line marks no effect. ``customdata`` of a point is its
    ``(kind, layer, head)``.

    Args:
        attention: (N,) in 0..1. effects: (N,) in nats. heads: N of ``(kind, layer, head)``, counted from 0.
        chosen: heads with a ring around them.

    Raises ValueError for different lengths, attention outside 0..1, effects that are not finite, and an unknown theme.

    >>> heads = [("cross_attention", 0, 0), ("cross_attention", 0, 1)]
    >>> figure = attention_effect_scatter([0.1, 0.75], [-0.25, -3.0], heads)
    >>> figure.data[0].y.tolist()
    [-0.25, -3.0]
    """
    points = _points(attention, effects, heads)
    figure = go.Figure(layout=_scatter_layout(title, attention_title, effect_title, theme))
    kinds = list(dict.fromkeys(head[0] for head in points[2]))
    titles = tuple(map(template_text, (layer_title, head_title, attention_title, effect_title)))
    for number, kind in enumerate(kinds):
        name = (names or {}).get(kind, kind)
        figure.add_trace(
            _cloud(
                points,
                kind,
                name,
                number,
                {(kind, layer, head) for kind, layer, head in chosen},
                titles,
                theme,
            )
        )
    return figure


def _points(attention: ArrayLike, effects: ArrayLike, heads: Iterable[MosaicHead]) -> Points:
    attention, effects = np.asarray(attention, np.float32), np.asarray(effects, np.float32)
    heads = [(kind, layer, head) for kind, layer, head in heads]
    if not attention.shape == effects.shape == (len(heads),):
        raise ValueError(
            f"each head should have both numbers, received {attention.shape}, {effects.shape}, {len(heads)} heads"
        )
    if not ((attention >= -_ROUNDING) & (attention <= 1 + _ROUNDING)).all():
        raise ValueError(f"attention should lie in 0..1, received {attention}")
    if not np.isfinite(effects).all():
        raise ValueError(f"effects should be finite, received {effects}")
    return attention, effects, heads


def _cloud(
    points: Points,
    kind: str,
    name: str,
    number: int,
    chosen: set[MosaicHead],
    titles: tuple[str, ...],
    theme: str,
) -> go.Scatter:
    attention, effects, heads = points
    layer_title, head_title, attention_title, effect_title = titles
    rows = [row for row, head in enumerate(heads) if head[0] == kind]
    colours = palette(theme)
    return go.Scatter(
        x=attention[rows],
        y=effects[rows],
        customdata=[list(heads[row]) for row in rows],
        text=[f"{layer_title} {heads[row][1] + 1} · {head_title} {heads[row][2] + 1}" for row in rows],
        mode="markers",
        name=plain_text(name),
        marker={
            "size": 10,
            "symbol": _SYMBOLS[number % len(_SYMBOLS)],
            "color": colours.qualitative[number % len(colours.qualitative)],
            "line": {
                "color": colours.accent,
                "width": [3 if heads[row] in chosen else 0 for row in rows],
            },
        },
        hovertemplate=f"{template_text(name)}<br>%{{text}}<br>{attention_title}: <b>%{{x:.3f}}</b>"
        f"<br>{effect_title}: <b>%{{y:+.3f}}</b><extra></extra>",
    )


def _scatter_layout(title: str, attention_title: str, effect_title: str, theme: str) -> go.Layout:
    return go.Layout(
        base_layout(theme)
        | {
            "title": figure_title(plain_text(title), _SCATTER_HEIGHT),
            "xaxis": base_axis(theme, plain_text(attention_title))
            | {"rangemode": "tozero", "tickformat": "~g"},
            "yaxis": base_axis(theme, plain_text(effect_title))
            | {
                "automargin": True,
                "zeroline": True,
                "zerolinecolor": palette(theme).quiet_text,
                "zerolinewidth": 1,
            },
            "height": _SCATTER_HEIGHT,
            "meta": {"fit": "fill", "least": _LEAST_HEIGHT},
            "margin": {"t": TITLE_HEIGHT + _LEGEND, "l": 64, "r": 16, "b": 50},
            "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)"},
        }
    )
