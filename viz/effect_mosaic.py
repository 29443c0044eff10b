"""What heads do for an edit: one square for each head."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.labels import plain_text, template_text
from viz.theme import TITLE_HEIGHT, base_axis, base_layout, colour_scale, figure_title, palette, weight_scale

EffectHead = tuple[str, int, int]  # kind, layer and head, both counted from 0

_CELL, _NAMES, _FOOT = 34, 76, 12  # pixels
_GAP = 0.8  # cells between the kinds


def effect_mosaic(
    effects: Mapping[str, np.ndarray],
    *,
    names: Mapping[str, str] | None = None,
    title: str = "",
    layer_title: str = "Layer",
    head_title: str = "Head",
    effect_title: str = "Change in nats",
    chosen: Collection[EffectHead] = (),
    largest: float | None = None,
    theme: str = "light",
) -> go.Figure:
    """One square for each head: kinds of attention side by side, layers from top to bottom, heads to the right.

    Colours diverge from 0: what lowers and what raises the odds of the fix are told apart at a glance. The hover names
    the head; each square has an invisible marker whose ``customdata`` is ``(kind, layer, head)``, counted from
    0, so that a page can react to a click.

    Args:
        effects: (L, H) floats by kind, such as ``HeadEffects.grid``; each kind has its own.
        names: what to call each kind; by default as it is.
        chosen: heads that are framed.
        largest: the size of the strongest colour; by default the largest there is.

    Raises ValueError for grids of another rank or with values that are not finite, for chosen
    heads that do not exist, a ``largest`` that is not positive, and an unknown theme.
    """
    info = _mosaic_info(effects, names, chosen, largest)
    figure = go.Figure(layout=_mosaic_layout(info, title, layer_title, theme))
    for number, kind in enumerate(info.kinds):
        figure.add_trace(_squares(info, kind, effect_title, number == 0, theme))
    if info.kinds:
        figure.add_trace(_square_markers(info, (layer_title, head_title, effect_title)))
    return figure


@dataclass(frozen=True)
class _MosaicInfo:
    grids: dict[str, np.ndarray]  # (L, H) float32 by kind
    starts: dict[str, float]  # the x of each kind's first head
    names: dict[str, str]
    chosen: tuple[EffectHead, ...]
    largest: float

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind, grid in self.grids.items() if grid.size)

    @property
    def layers(self) -> int:
        return max((len(grid) for grid in self.grids.values()), default=0)

    @property
    def width(self) -> float:
        """In cells."""
        return sum(grid.shape[1] + _GAP for grid in self.grids.values()) - _GAP if self.kinds else 1.0

    @property
    def height(self) -> float:
        return TITLE_HEIGHT + _NAMES + max(self.layers, 1) * _CELL + _FOOT


def _mosaic_info(effects, names, chosen, largest) -> _MosaicInfo:
    grids = {kind: np.asarray(grid, np.float32) for kind, grid in effects.items()}
    for kind, grid in grids.items():
        if grid.ndim != 2 or not np.isfinite(grid).all():
            raise ValueError(f"effects of {kind} should be (L, H) and finite, received {grid.shape}: {grid}")
    starts, place = {}, 0.0
    for kind, grid in grids.items():
        starts[kind] = place
        place += grid.shape[1] + _GAP
    known = {(kind, *place) for kind, grid in grids.items() for place in np.ndindex(grid.shape)}
    chosen = tuple(tuple(each) for each in chosen)
    if strange := [each for each in chosen if each not in known]:
        raise ValueError(f"chosen should be heads of the effects, received {strange}")
    if largest is None:
        largest = max((float(np.abs(grid).max(initial=0)) for grid in grids.values()), default=0) or 1.0
    if not largest > 0:
        raise ValueError(f"largest should be positive, received {largest}")
    called = {kind: (names or {}).get(kind, kind) for kind in grids}
    return _MosaicInfo(grids, starts, called, chosen, largest)


def _squares(info: _MosaicInfo, kind: str, title: str, with_scale: bool, theme: str) -> go.Heatmap:
    scale = weight_scale(plain_text(title), info.height) | {"len": 340, "nticks": 5, "tickformat": "~g"}
    return go.Heatmap(
        z=info.grids[kind],
        x0=info.starts[kind],
        dx=1,
        zmin=-info.largest,
        zmax=info.largest,
        colorscale=colour_scale(palette(theme).diverging),
        showscale=with_scale,
        colorbar=scale,
        xgap=2,
        ygap=2,
        hoverinfo="skip",
    )


def _square_markers(info: _MosaicInfo, titles: tuple[str, str, str]) -> go.Scatter:
    layer_title, head_title, effect_title = map(template_text, titles)
    heads = [(kind, *place) for kind in info.kinds for place in np.ndindex(info.grids[kind].shape)]
    texts = [
        f"{template_text(info.names[kind])}<br>{layer_title} {layer + 1} · {head_title} {head + 1}"
        f"<br>{effect_title}: <b>{info.grids[kind][layer, head]:+.3f}</b>"
        for kind, layer, head in heads
    ]
    return go.Scatter(
        x=[info.starts[kind] + head for kind, _, head in heads],
        y=[layer for _, layer, _ in heads],
        customdata=[list(head) for head in heads],
        text=texts,
        mode="markers",
        marker={"symbol": "square", "size": 20, "opacity": 0},
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )


def _mosaic_layout(info: _MosaicInfo, title: str, layer_title: str, theme: str) -> go.Layout:
    colours = palette(theme)
    heads = [
        (info.starts[kind] + head, head) for kind in info.kinds for head in range(info.grids[kind].shape[1])
    ]
    frames = [
        {
            "type": "rect",
            "x0": info.starts[kind] + head - 0.5,
            "x1": info.starts[kind] + head + 0.5,
            "y0": layer - 0.5,
            "y1": layer + 0.5,
            "line": {"color": colours.accent, "width": 3},
        }
        for kind, layer, head in info.chosen
    ]
    kinds = [
        {
            "text": plain_text(info.names[kind]),
            "x": info.starts[kind] - 0.5,
            "xanchor": "left",
            "y": -0.5,
            "yanchor": "bottom",
            "yshift": 20,
            "showarrow": False,
            "font": {"size": 12, "color": colours.text},
        }
        for kind in info.kinds
    ]
    shared = {"tickmode": "array", "showgrid": False, "fixedrange": True}
    return go.Layout(
        base_layout(theme)
        | {
            "title": figure_title(plain_text(title), info.height),
            "xaxis": base_axis(theme, "")
            | shared
            | {
                "side": "top",
                "range": [-0.5, info.width - 0.5],
                "tickvals": [place for place, _ in heads],
                "ticktext": [str(head + 1) for _, head in heads],
            },
            "yaxis": base_axis(theme, plain_text(layer_title))
            | shared
            | {
                "range": [max(info.layers, 1) - 0.5, -0.5],
                "tickvals": list(range(info.layers)),
                "ticktext": [str(layer + 1) for layer in range(info.layers)],
                "automargin": True,
            },
            "annotations": kinds,
            "shapes": frames,
            "height": info.height,
            "margin": {"t": TITLE_HEIGHT + _NAMES, "l": 40, "r": 16, "b": _FOOT},
            "hoverdistance": 300,
        }
    )
