"""What the mosaics of a network's heads share: where each head's square lies, what the axes say, what answers a click."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from viz.figure import TITLE_HEIGHT, base_axis, base_layout, figure_title
from viz.labels import plain_text, template_text
from viz.theme import palette

MosaicHead = tuple[str, int, int]  # kind, layer and head, both counted from 0

# Pixels; the kinds and the heads' numbers are part of the names.
_CELL, _NAMES, _KINDS, _FOOT = (
    34,
    76,
    42,
    12,
)
_GAP = 0.8  # cells between the kinds
_FRAME = 0.06  # cells around all, where half of an outer frame lies


@dataclass(frozen=True)
class MosaicInfo:
    grids: dict[str, np.ndarray]  # (L, H) float32 by kind
    starts: dict[str, float]  # the x of each kind's first head
    names: dict[str, str]
    chosen: tuple[MosaicHead, ...]
    largest: float

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind, grid in self.grids.items() if grid.size)

    @property
    def heads(self) -> list[MosaicHead]:
        return [(kind, *place) for kind in self.kinds for place in np.ndindex(self.grids[kind].shape)]

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

    def places(self, heads: Sequence[MosaicHead]) -> dict[str, list[float]]:
        """x and y of the squares of ``heads``."""
        return {
            "x": [self.starts[kind] + head for kind, _, head in heads],
            "y": [layer for _, layer, _ in heads],
        }


def mosaic_info(
    values: Mapping[str, ArrayLike],
    names: Mapping[str, str] | None,
    chosen: Collection[MosaicHead],
    largest: float | None,
) -> MosaicInfo:
    grids = {kind: np.asarray(grid, np.float32) for kind, grid in values.items()}
    for kind, grid in grids.items():
        if grid.ndim != 2 or np.isinf(grid).any():
            raise ValueError(f"values of {kind} should be (L, H) and finite, received {grid.shape}: {grid}")
    starts, place = {}, 0.0
    for kind, grid in grids.items():
        starts[kind] = place
        place += grid.shape[1] + _GAP
    known = {(kind, *place) for kind, grid in grids.items() for place in np.ndindex(grid.shape)}
    framed = tuple((kind, layer, head) for kind, layer, head in chosen)
    if strange := [each for each in framed if each not in known]:
        raise ValueError(f"chosen should be heads of the values, received {strange}")
    if largest is None:
        sizes = np.concatenate([np.abs(grid).ravel() for grid in grids.values()] or [np.zeros(0)])
        largest = float(np.nanmax(sizes, initial=0)) or 1.0
    if not 0 < largest < np.inf:
        raise ValueError(f"largest should be finite and positive, received {largest}")
    called = {kind: (names or {}).get(kind, kind) for kind in grids}
    return MosaicInfo(grids, starts, called, framed, largest)


def square_markers(info: MosaicInfo, titles: tuple[str, str], told: Sequence[str]) -> go.Scatter:
    layer_title, head_title = map(template_text, titles)
    texts = [
        f"{template_text(info.names[kind])}<br>{layer_title} {layer + 1} · {head_title} {head + 1}<br>{text}"
        for (kind, layer, head), text in zip(info.heads, told, strict=True)
    ]
    return go.Scatter(
        **info.places(info.heads),
        customdata=[list(head) for head in info.heads],
        text=texts,
        mode="markers",
        marker={"symbol": "square", "size": 20, "opacity": 0},
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )


def mosaic_layout(info: MosaicInfo, title: str, layer_title: str, theme: str) -> go.Layout:
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
            "x": info.starts[kind] + (info.grids[kind].shape[1] - 1) / 2,
            "xanchor": "center",
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
                "range": [-0.5 - _FRAME, info.width - 0.5 + _FRAME],
                "tickvals": [place for place, _ in heads],
                "ticktext": [str(head + 1) for _, head in heads],
            },
            "yaxis": base_axis(theme, plain_text(layer_title))
            | shared
            | {
                "range": [max(info.layers, 1) - 0.5 + _FRAME, -0.5 - _FRAME],
                "tickvals": list(range(info.layers)),
                "ticktext": [str(layer + 1) for layer in range(info.layers)],
                "automargin": True,
            },
            "annotations": kinds,
            "shapes": frames,
            "height": info.height,
            "margin": {"t": TITLE_HEIGHT + _NAMES, "l": 34, "r": 12, "b": _FOOT},
            "hoverdistance": 300,
            # It grows upwards where a phone breaks it into lines: eight roles are four lines.
            "legend": {
                "orientation": "h",
                "x": 0,
                "yref": "container",
                "y": 1 - (TITLE_HEIGHT + _NAMES - _KINDS) / info.height,
                "yanchor": "bottom",
                "entrywidth": 108,
                "font": {"size": 11},
                "bgcolor": "rgba(0,0,0,0)",
            },
        }
    )
