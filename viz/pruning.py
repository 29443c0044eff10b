"""How well a network still corrects as more and more heads are removed; one order of removal compared with others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.figure import TITLE_HEIGHT, base_axis, base_layout, figure_title
from viz.labels import plain_text, template_text
from viz.theme import palette

_PANEL_HEIGHT, _LEAST, _HEAD, _FOOT, _BETWEEN = 220, 165, 22, 66, 0.3


def pruning_curve(
    curves: Mapping[str, Sequence[Sequence[float]]],
    *,
    main: str,
    main_name: str = "least effective first",
    others_name: str = "random order",
    title: str = "",
    removed_title: str = "Heads removed",
    titles: tuple[str, str] = ("Corrected exactly", "Left untouched"),
    theme: str = "light",
) -> go.Figure:
    """Two panels over the number of removed heads: sentences corrected exactly, and right ones left untouched.

    Args:
        curves: by the name of an order, rows of (removed, exact, untouched), shares in 0..1 or nan.
        main: the order drawn strongly; all others are drawn thin, as one group of the legend.

    Raises ValueError for rows that are no triples, for shares outside 0..1, for a ``main`` that is not among the
    curves where there are any, and for an unknown theme.

    >>> by_effect, by_chance = [(0, 0.8, 0.99), (24, 0.4, 0.9)], [(0, 0.8, 0.99), (24, 0.1, 0.5)]
    >>> figure = pruning_curve({"effect": by_effect, "chance": by_chance}, main="effect")
    >>> len(figure.data)  # two curves in two panels
    4
    """
    info = _info(curves, main)
    figure = go.Figure(layout=_layout(info, title, removed_title, titles, theme))
    for panel in range(2):
        for number, (name, rows) in enumerate(info.ordered):
            called = main_name if name == main else others_name
            in_legend = panel == 0 and (name == main or number == 0)
            texts = called, removed_title, titles[panel]
            figure.add_trace(_line(rows, panel, name == main, texts, in_legend, theme))
    return figure


@dataclass(frozen=True)
class _PruningInfo:
    ordered: list[tuple[str, np.ndarray]]  # (N, 3) each, the main one last so that it lies on top

    @property
    def most(self) -> float:
        return max((rows[:, 0].max() for _, rows in self.ordered if len(rows)), default=1.0)


def _info(curves: Mapping[str, Sequence[Sequence[float]]], main: str) -> _PruningInfo:
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
    return _PruningInfo(sorted(filled, key=lambda each: each[0] == main))


def _line(
    rows: np.ndarray, panel: int, strong: bool, texts: tuple[str, str, str], in_legend: bool, theme: str
) -> go.Scatter:
    name, removed, share = texts
    colours = palette(theme)
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
        showlegend=in_legend,
        yaxis="y" if panel == 0 else "y2",
        hovertemplate=f"{template_text(name)}<br>{template_text(removed)}: %{{x:d}}"
        f"<br>{template_text(share)}: <b>%{{y:.1%}}</b><extra></extra>",
    )


def _name(title: str, panel: int, theme: str) -> dict:
    """What a panel shows, written above it: beside it there is no room in a narrow figure, and inside of a low one it would lie over a curve."""
    top = {"x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom", "borderpad": 0, "xref": "x domain"}
    axis = {"yref": "y domain" if panel == 0 else "y2 domain"}
    return {"text": title, "showarrow": False, "font": {"color": palette(theme).quiet_text}} | top | axis


def _layout(info: _PruningInfo, title: str, removed: str, titles: tuple[str, str], theme: str) -> go.Layout:
    # The page leaves little room for this figure, and has a title above it.
    head = _HEAD + (TITLE_HEIGHT if title else 0)
    height = head + 2 * _PANEL_HEIGHT + _FOOT
    share = {"range": [-0.02, 1.02], "tickformat": ".0%", "automargin": True}
    return go.Layout(
        base_layout(theme)
        | {
            "title": figure_title(plain_text(title), height),
            "xaxis": base_axis(theme, plain_text(removed))
            | {"anchor": "y2", "range": [-0.02 * info.most, 1.02 * info.most]},
            "yaxis": base_axis(theme, "") | share | {"domain": [0.5 + _BETWEEN / 2, 1]},
            "yaxis2": base_axis(theme, "") | share | {"domain": [0, 0.5 - _BETWEEN / 2]},
            "annotations": [_name(plain_text(titles[panel]), panel, theme) for panel in range(2)],
            "height": height,
            "meta": {"fit": "fill", "least": _LEAST, "low": True},
            "margin": {"t": head, "l": 64, "r": 16, "b": _FOOT},
            "legend": {
                "orientation": "h",
                "x": 0,
                "yref": "container",
                "y": 0,
                "yanchor": "bottom",
                "bgcolor": "rgba(0,0,0,0)",
            },
        }
    )
