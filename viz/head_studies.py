"""Charts of studies over many sentences: ablation effects, pruning, reliability."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from viz.figure import PLAIN, TITLE_HEIGHT, Captions, base_axis, base_layout, legend_across
from viz.head_mosaic import MosaicHead
from viz.labels import plain_text, template_text
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
    theme: str = "light",
) -> go.Figure:
    """A point for each of N heads: its attention to an edit, and the change without it.

    Kinds of attention differ in colour and in symbol; a line marks no effect. ``customdata`` of a point is
    its ``(kind, layer, head)``.

    Args:
        attention: (N,) in 0..1.
        effects: (N,) in nats.
        heads: N of ``(kind, layer, head)``, counted from 0.
        chosen: heads with a ring around them.

    Raises:
        ValueError: different lengths, attention outside 0..1, effects that are not finite, and an unknown
            theme.

    Example:
        >>> heads = [("cross_attention", 0, 0), ("cross_attention", 0, 1)]
        >>> figure = attention_effect_scatter([0.1, 0.75], [-0.25, -3.0], heads)
        >>> figure.data[0].y.tolist()
        [-0.25, -3.0]
    """
    points = _points(attention, effects, heads)
    figure = go.Figure(layout=_scatter_layout(title, attention_title, effect_title, theme))
    kinds = list(dict.fromkeys(head[0] for head in points[2]))
    titles = (attention_title, effect_title)
    framed = {(kind, layer, head) for kind, layer, head in chosen}
    for number, kind in enumerate(kinds):
        captions = Captions(titles=titles, names=((names or {}).get(kind, kind),), theme=theme)
        figure.add_trace(_cloud(points, kind, number, framed, captions))
    return figure


def _points(attention: ArrayLike, effects: ArrayLike, heads: Iterable[MosaicHead]) -> Points:
    attention, effects = np.asarray(attention, np.float32), np.asarray(effects, np.float32)
    heads = [(kind, layer, head) for kind, layer, head in heads]
    if not attention.shape == effects.shape == (len(heads),):
        raise ValueError(
            f"each head should have both numbers, received {attention.shape}, {effects.shape}, "
            f"{len(heads)} heads"
        )
    if not ((attention >= -_ROUNDING) & (attention <= 1 + _ROUNDING)).all():
        raise ValueError(f"attention should lie in 0..1, received {attention}")
    if not np.isfinite(effects).all():
        raise ValueError(f"effects should be finite, received {effects}")
    return attention, effects, heads


def _cloud(points: Points, kind: str, number: int, chosen: set[MosaicHead], captions: Captions) -> go.Scatter:
    attention, effects, heads = points
    attention_title, effect_title = map(template_text, captions.titles)
    (name,) = captions.names
    rows = [row for row, head in enumerate(heads) if head[0] == kind]
    colours = palette(captions.theme)
    return go.Scatter(
        x=attention[rows],
        y=effects[rows],
        customdata=[list(heads[row]) for row in rows],
        text=[f"{template_text(name)} {heads[row][1] + 1}·{heads[row][2] + 1}" for row in rows],
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
        hovertemplate=f"%{{text}}<br>{attention_title}: <b>%{{x:.3f}}</b>"
        f"<br>{effect_title}: <b>%{{y:+.3f}}</b><extra></extra>",
    )


def _scatter_layout(title: str, attention_title: str, effect_title: str, theme: str) -> go.Layout:
    return go.Layout(
        base_layout(theme, title, _SCATTER_HEIGHT)
        | {
            "xaxis": base_axis(theme, attention_title, range=[-0.03, 1.03], tickformat="~g"),
            "yaxis": base_axis(
                theme,
                effect_title,
                automargin=True,
                zeroline=True,
                zerolinecolor=palette(theme).quiet_text,
                zerolinewidth=1,
            ),
            "meta": {"fit": "fill", "least": _LEAST_HEIGHT},
            "margin": {"t": TITLE_HEIGHT + _LEGEND, "l": 64, "r": 16, "b": 50},
            "legend": legend_across(1, "bottom"),
        }
    )


_PANEL_HEIGHT, _LEAST, _HEAD, _FOOT, _BETWEEN = 220, 165, 22, 66, 0.3


def pruning_curve(
    curves: Mapping[str, Sequence[Sequence[float]]],
    *,
    main: str,
    captions: Captions = PLAIN,
) -> go.Figure:
    """Two panels over the number of removed heads: sentences corrected exactly, and right ones left
    untouched.

    Args:
        curves: by the name of an order, rows of (removed, exact, untouched), shares in 0..1 or nan.
        main: the order drawn strongly; all others are drawn thin, as one group of the legend.
        captions: titles of the removed heads and of both panels; names of the main order and of the others.

    Raises:
        ValueError: rows that are no triples, for shares outside 0..1, for a ``main`` that is not among
            the curves, and for an unknown theme.

    Example:
        >>> by_effect, by_chance = [(0, 0.8, 0.99), (24, 0.4, 0.9)], [(0, 0.8, 0.99), (24, 0.1, 0.5)]
        >>> figure = pruning_curve({"effect": by_effect, "chance": by_chance}, main="effect")
        >>> len(figure.data)  # two curves in two panels
        4
    """
    ordered = _in_order(curves, main)
    captions = captions.or_else(
        ("Heads removed", "Corrected exactly", "Left untouched"),
        names=("least effective first", "random order"),
    )
    figure = go.Figure(layout=_layout(ordered, captions))
    for panel in range(2):
        for number, (name, rows) in enumerate(ordered):
            in_legend = panel == 0 and (name == main or number == 0)
            figure.add_trace(_line(rows, panel, name == main, captions).update(showlegend=in_legend))
    return figure


NamedRows = list[tuple[str, np.ndarray]]  # by the name of an order, (N, 3) each


def _in_order(curves: Mapping[str, Sequence[Sequence[float]]], main: str) -> NamedRows:
    """The curves that have rows, the main one last, so that it lies on top."""
    arrays = {name: np.asarray(rows, float).reshape(len(rows), -1) for name, rows in curves.items()}
    for name, rows in arrays.items():
        if len(rows) and rows.shape[1] != 3:
            raise ValueError(f"rows of {name!r} should be (removed, exact, untouched), received {rows.shape}")
        shares = rows[:, 1:] if len(rows) else np.zeros(0)
        if not (np.isnan(shares) | ((shares >= 0) & (shares <= 1))).all():
            raise ValueError(f"shares of {name!r} should lie in 0..1, received {shares.tolist()}")
    if arrays and main not in arrays:
        raise ValueError(f"main should be one of {list(arrays)}, received {main!r}")
    filled = [(name, rows) for name, rows in arrays.items() if len(rows)]
    return sorted(filled, key=lambda each: each[0] == main)


def _line(rows: np.ndarray, panel: int, strong: bool, captions: Captions) -> go.Scatter:
    name = captions.names[0 if strong else 1]
    removed, *shares = captions.titles
    colours = palette(captions.theme)
    line = (
        {"color": colours.qualitative[0], "width": 3} if strong else {"color": colours.quiet_text, "width": 1}
    )
    return go.Scatter(
        x=rows[:, 0],
        y=rows[:, 1 + panel],
        mode="lines+markers",
        line=line | ({} if strong else {"dash": "dot"}),
        marker={"size": 7 if strong else 4},
        name=plain_text(name),
        legendgroup=name,
        yaxis="y" if panel == 0 else "y2",
        hovertemplate=f"{template_text(name)}<br>{template_text(removed)}: %{{x:d}}"
        f"<br>{template_text(shares[panel])}: <b>%{{y:.1%}}</b><extra></extra>",
    )


def _name(title: str, panel: int, theme: str) -> dict:
    """The panel's title, above it: a narrow figure has no room beside it, and in a low one it would cover a
    curve.
    """
    top = {"x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom", "borderpad": 0, "xref": "x domain"}
    axis = {"yref": "y domain" if panel == 0 else "y2 domain"}
    return {"text": title, "showarrow": False, "font": {"color": palette(theme).quiet_text}} | top | axis


def _layout(ordered: NamedRows, captions: Captions) -> go.Layout:
    most = max((rows[:, 0].max() for _, rows in ordered), default=1.0)
    title, theme = captions.title, captions.theme
    removed, *titles = captions.titles
    # The page leaves little room for this figure, and has a title above it.
    head = _HEAD + (TITLE_HEIGHT if title else 0)
    height = head + 2 * _PANEL_HEIGHT + _FOOT
    share = {"range": [-0.02, 1.02], "tickformat": ".0%", "automargin": True}
    return go.Layout(
        base_layout(theme, title, height)
        | {
            "xaxis": base_axis(theme, removed, anchor="y2", range=[-0.02 * most, 1.02 * most]),
            "yaxis": base_axis(theme, "", **share, domain=[0.5 + _BETWEEN / 2, 1]),
            "yaxis2": base_axis(theme, "", **share, domain=[0, 0.5 - _BETWEEN / 2]),
            "annotations": [_name(plain_text(titles[panel]), panel, theme) for panel in range(2)],
            "meta": {"fit": "fill", "least": _LEAST, "low": True},
            "margin": {"t": head, "l": 64, "r": 16, "b": _FOOT},
            "legend": legend_across(0, "bottom", container=True),
        }
    )


if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("low", "high", "count", "mean_confidence", "share_right")

_CURVE_HEIGHT, _COUNT_HEIGHT = 320, 110
_RELIABILITY_HEAD, _RELIABILITY_FOOT = TITLE_HEIGHT + 28, 50
_SPACE_BETWEEN = 0.06


def reliability_curve(
    bins: pd.DataFrame,
    *,
    captions: Captions = PLAIN,
) -> go.Figure:
    """The reliability diagram of Guo et al. (2017), section 2, above the number of changes in each bin.

    Args:
        bins: one row per bin of confidence with the columns of COLUMNS. ``low`` and ``high`` bound the bin,
            bins may differ in width; ``mean_confidence`` and ``share_right`` are NaN where ``count`` is 0,
            and such a bin has no point.
        captions: titles of the confidence, of the share that was right, and of the number of changes; names
            of the curve and of the diagonal.

    Raises:
        ValueError: a missing column, naming those received, for shares outside 0..1, and for an unknown
            theme.

    Example:
        >>> columns = ["low", "high", "count", "mean_confidence", "share_right"]
        >>> bins = pd.DataFrame([[0.0, 0.5, 10, 0.3, 0.25], [0.5, 1.0, 90, 0.9, 0.875]], columns=columns)
        >>> reliability_curve(bins).data[1].y.tolist()
        [0.25, 0.875]
    """
    bins = _checked_bins(bins)
    captions = captions.or_else(
        ("Confidence", "Share right", "Changes"), names=("measured", "as sure as right")
    )
    figure = go.Figure(layout=_reliability_layout(bins, captions))
    figure.add_trace(_diagonal(captions))
    if not bins.empty:
        figure.add_trace(_curve(bins, captions))
        figure.add_trace(_counts(bins, captions))
    return figure


def _checked_bins(bins: pd.DataFrame) -> pd.DataFrame:
    """The columns of COLUMNS alone, as floats."""
    missing = [name for name in COLUMNS if name not in bins.columns]
    if missing and not bins.empty:
        raise ValueError(f"bins should have the columns {missing} too, received {list(bins.columns)}")
    bins = bins.reindex(columns=list(COLUMNS)).astype(float)
    filled = bins[bins["count"] > 0]
    for values in (bins["low"], bins["high"], filled["mean_confidence"], filled["share_right"]):
        if not values.between(0, 1).all():
            raise ValueError(f"confidences and shares should lie in 0..1, received {values.tolist()}")
    return bins


def _diagonal(captions: Captions) -> go.Scatter:
    return go.Scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        name=plain_text(captions.names[1]),
        line={"color": palette(captions.theme).quiet_text, "dash": "dash", "width": 1.5},
        hoverinfo="skip",
    )


def _curve(bins: pd.DataFrame, captions: Captions) -> go.Scatter:
    filled = bins[bins["count"] > 0]
    sure, right, changes = map(template_text, captions.titles)
    return go.Scatter(
        x=filled["mean_confidence"].to_numpy(),
        y=filled["share_right"].to_numpy(),
        customdata=filled["count"].to_numpy(),
        mode="lines+markers",
        name=plain_text(captions.names[0]),
        line={"color": palette(captions.theme).qualitative[0], "width": 2},
        marker={"size": 9},
        hovertemplate=f"{sure}: <b>%{{x:.3f}}</b><br>{right}: <b>%{{y:.1%}}</b>"
        f"<br>{changes}: <b>%{{customdata:,d}}</b><extra></extra>",
    )


def _counts(bins: pd.DataFrame, captions: Captions) -> go.Bar:
    sure, _, changes = map(template_text, captions.titles)
    colours = palette(captions.theme)
    return go.Bar(
        x=((bins["low"] + bins["high"]) / 2).to_numpy(),
        width=(bins["high"] - bins["low"]).to_numpy(),
        y=bins["count"].to_numpy(),
        customdata=bins[["low", "high"]].to_numpy(),
        marker={"color": colours.qualitative[0], "line": {"color": colours.gap, "width": 1}},
        yaxis="y2",
        showlegend=False,
        hovertemplate=f"{sure}: <b>%{{customdata[0]:~g}}–%{{customdata[1]:~g}}</b>"
        f"<br>{changes}: <b>%{{y:,d}}</b><extra></extra>",
    )


def _reliability_layout(bins: pd.DataFrame, captions: Captions) -> go.Layout:
    theme = captions.theme
    height = _RELIABILITY_HEAD + _CURVE_HEIGHT + _COUNT_HEIGHT + _RELIABILITY_FOOT
    lower = _COUNT_HEIGHT / (_COUNT_HEIGHT + _CURVE_HEIGHT)
    sure, right, changes = captions.titles
    share = {"range": [-0.02, 1.02], "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1]}
    # Nearly all changes lie in a few bins: on a linear axis the others would vanish. log10 of one change
    # is 0, so the axis begins a little below it.
    most = np.log10(max([10.0, *bins["count"]]))
    return go.Layout(
        base_layout(theme, captions.title, height)
        | {
            "xaxis": base_axis(theme, sure, **share, anchor="y2"),
            "yaxis": base_axis(
                theme, right, **share, domain=[lower + _SPACE_BETWEEN, 1], tickformat=".0%", automargin=True
            ),
            "yaxis2": base_axis(
                theme,
                changes,
                domain=[0, lower],
                type="log",
                range=[-0.3, most + 0.1],
                dtick=1,
                tickformat="~s",
                automargin=True,
            ),
            "margin": {"t": _RELIABILITY_HEAD, "l": 64, "r": 16, "b": _RELIABILITY_FOOT},
            "legend": legend_across(1, "bottom"),
        }
    )
