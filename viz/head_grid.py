"""All heads of all layers side by side, small, as one heatmap trace."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.labels import plain_text, template_text
from viz.theme import base_axis, base_layout, colour_scale, figure_title, palette, weight_scale
from viz.token_axis import DESIGN_WIDTH

# One byte a cell: 1..255 are weights from 0 to colour_max, 0 is no cell at all (a gap, or masked). It is 0
# because # the JSON spells many zero bytes as short "A"s, but the slashes of many 255s as six characters
# each.
NO_CELL, WEAKEST, STRONGEST = 0, 1, 255

_LARGEST_TILE = 160
_SMALLEST_TILE = 24
_HEAD, _FOOT = 110, 12


def head_grid(
    weights: np.ndarray,
    *,
    title: str = "",
    layer_title: str = "Layer",
    head_title: str = "Head",
    weight_title: str = "Weight",
    layer_names: Sequence[str] | None = None,
    head_names: Sequence[str] | None = None,
    masked: np.ndarray | None = None,
    theme: str = "light",
    colour_max: float = 1.0,
) -> go.Figure:
    """Mosaic of every head's attention map: layers from top to bottom, heads from left to right.

    An overview: weights are rounded to steps of colour_max/254, and larger ones show as colour_max. The
    hover names layer and head; it belongs to one invisible marker per tile, whose ``customdata`` is
    ``(layer, head)`` counted from 0, so that a page can also react to a click on a tile.

    Args:
        weights: (L, H, Q, K) floats in 0..1.
        layer_names, head_names: L and H names; by default 1, 2, 3 …
        masked: (Q, K) bool, True where the mask forbids looking; left blank in every tile.
        colour_max: the weight of the strongest colour.

    Raises ValueError for shapes that do not fit each other, weights that are not finite and not negative, a
    colour_max that is not positive, and an unknown theme.
    """
    info = _info(weights, layer_names, head_names, masked, colour_max)
    figure = go.Figure(layout=_layout(info, title, layer_title, head_title, theme))
    if info.mosaic.size:
        figure.add_trace(_heatmap(info, weight_title, theme))
        figure.add_trace(_tile_markers(info, template_text(layer_title), template_text(head_title)))
    return figure


@dataclass(frozen=True)
class _GridInfo:
    mosaic: np.ndarray  # (L*(Q+gap) - gap, H*(K+gap) - gap) uint8
    layer_centres: np.ndarray  # (L,) rows of the mosaic
    head_centres: np.ndarray  # (H,) columns of the mosaic
    layer_names: tuple[str, ...]
    head_names: tuple[str, ...]
    colour_max: float


def _info(weights, layer_names, head_names, masked, colour_max) -> _GridInfo:
    weights = np.asarray(weights, dtype=np.float32)
    if weights.size == 0 and weights.ndim != 4:
        weights = np.zeros((0, 0, 0, 0), np.float32)
    if weights.ndim != 4:
        raise ValueError(f"weights should have the shape (L, H, Q, K), received {weights.shape}")
    if weights.size and not (np.isfinite(weights).all() and weights.min() >= -1e-4):
        raise ValueError(
            f"weights should be finite and not negative, received {weights.min()} to {weights.max()}"
        )
    if not colour_max > 0:
        raise ValueError(f"colour_max should be positive, received {colour_max}")
    layers, heads, queries, keys = weights.shape
    bytes_ = np.rint(WEAKEST + np.clip(weights / colour_max, 0, 1) * (STRONGEST - WEAKEST)).astype(np.uint8)
    if masked is not None:
        masked = np.asarray(masked, dtype=bool)
        if masked.shape != (queries, keys):
            raise ValueError(
                f"masked should have the shape (Q, K) = {(queries, keys)}, received {masked.shape}"
            )
        bytes_[:, :, masked] = NO_CELL
    gap = max(1, round(max(queries, keys) / 20))
    return _GridInfo(
        _mosaic(bytes_, gap),
        np.arange(layers) * (queries + gap) + (queries - 1) / 2,
        np.arange(heads) * (keys + gap) + (keys - 1) / 2,
        _names(layer_names, layers, "layer_names"),
        _names(head_names, heads, "head_names"),
        colour_max,
    )


def _mosaic(tiles: np.ndarray, gap: int) -> np.ndarray:
    """(L, H, Q, K) -> (L*(Q+gap) - gap, H*(K+gap) - gap), tiles separated by ``gap`` empty cells."""
    layers, heads, queries, keys = tiles.shape
    if tiles.size == 0:
        return np.zeros((0, 0), np.uint8)
    spaced = np.full((layers, heads, queries + gap, keys + gap), NO_CELL, np.uint8)
    spaced[:, :, :queries, :keys] = tiles
    flat = spaced.transpose(0, 2, 1, 3).reshape(layers * (queries + gap), heads * (keys + gap))
    return np.ascontiguousarray(flat[:-gap, :-gap])


def _names(names, count: int, argument: str) -> tuple[str, ...]:
    names = tuple(str(number + 1) for number in range(count)) if names is None else tuple(names)
    if len(names) != count:
        raise ValueError(f"{argument} should have {count} names, received {len(names)}: {names}")
    return names


def _heatmap(info: _GridInfo, weight_title: str, theme: str) -> go.Heatmap:
    colours = palette(theme)
    weakest = WEAKEST / STRONGEST
    edge = weakest / 2
    scale = [[0, colours.grid], [edge, colours.grid], [edge, colours.sequential[0]]]
    scale += [[weakest + place * (1 - weakest), colour] for place, colour in colour_scale(colours.sequential)]
    return go.Heatmap(
        z=info.mosaic,
        zmin=NO_CELL,
        zmax=STRONGEST,
        colorscale=scale,
        hoverinfo="skip",
        colorbar=weight_scale(plain_text(weight_title), _height(info))
        | {
            "tickvals": [WEAKEST, (WEAKEST + STRONGEST) / 2, STRONGEST],
            "ticktext": ["0", f"{info.colour_max / 2:g}", f"{info.colour_max:g}"],
        },
    )


def _tile_markers(info: _GridInfo, layer_title: str, head_title: str) -> go.Scatter:
    # Heatmap cells cannot be selected, and naming the tile in each of its cells would outweigh the picture.
    tiles = [(layer, head) for layer in range(len(info.layer_names)) for head in range(len(info.head_names))]
    return go.Scatter(
        x=[info.head_centres[head] for _, head in tiles],
        y=[info.layer_centres[layer] for layer, _ in tiles],
        customdata=tiles,
        text=[
            f"{layer_title} {template_text(info.layer_names[layer])}<br>"
            f"{head_title} {template_text(info.head_names[head])}"
            for layer, head in tiles
        ],
        mode="markers",
        marker={"symbol": "square", "size": 20, "opacity": 0},
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )


def _tile_size(info: _GridInfo) -> tuple[float, float]:
    """Pixels of (width, height) of one tile at the design width."""
    rows, columns = info.mosaic.shape
    layers, heads = max(len(info.layer_names), 1), max(len(info.head_names), 1)
    width = min(_LARGEST_TILE, DESIGN_WIDTH / heads)
    aspect = (rows / layers) / (columns / heads) if columns else 1.0
    return width, max(_SMALLEST_TILE, width * aspect)


def _height(info: _GridInfo) -> float:
    return _HEAD + _tile_size(info)[1] * max(len(info.layer_names), 1) + _FOOT


def _layout(info: _GridInfo, title: str, layer_title: str, head_title: str, theme: str) -> go.Layout:
    rows, columns = (max(count, 1) for count in info.mosaic.shape)
    height = _height(info)
    shared = {"tickmode": "array", "showgrid": False, "constrain": "domain"}
    return go.Layout(
        base_layout(theme)
        | {
            "title": figure_title(plain_text(title), height),
            "xaxis": base_axis(theme, plain_text(head_title))
            | shared
            | {
                "side": "top",
                "range": [-0.5, columns - 0.5],
                "tickvals": info.head_centres,
                "ticktext": [plain_text(name) for name in info.head_names],
                "constraintoward": "left",
            },
            "yaxis": base_axis(theme, plain_text(layer_title))
            | shared
            | {
                "range": [rows - 0.5, -0.5],
                "tickvals": info.layer_centres,
                "ticktext": [plain_text(name) for name in info.layer_names],
                "scaleanchor": "x",
                "constraintoward": "top",
                "automargin": True,
            },
            "height": height,
            "margin": {"t": _HEAD, "l": 40, "r": 16, "b": _FOOT},
            # So that the invisible marker in the middle of a tile answers for the whole tile.
            "hoverdistance": 300,
        }
    )
