"""Heatmap grid of all heads' attention maps in one trace, with a byte for each cell."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isqrt
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from viz.axes import named_axis
from viz.figure import (
    TITLE_HEIGHT,
    Captions,
    Specification,
    as_figure,
    base_layout,
    rectangle,
    weight_scale,
)
from viz.labels import plain_text, template_text
from viz.theme import palette, weight_colours

TileHead = tuple[int, int]  # layer and head, both counted from 0

# One byte a cell: 1..255 are weights from 0 to colour_max, 0 is no cell at all (a gap, or masked). Gaps have
# many bytes in a row: in base64 zeros are "AAAA", but 255s are "////", and Plotly's JSON escapes each slash
# with six characters.
NO_CELL, WEAKEST, STRONGEST = 0, 1, 255
MIDDLE = 128  # the byte of 0 where values have both signs

# Pixels that all tiles of a line share out: an overview is shown beside the map that it opens.
WIDTH = 420

# A tile has about 105 pixels: more cells than this could not be distinguished.
MOST_CELLS = 128

_LARGEST_TILE, _SMALLEST_TILE = 160, 24  # pixels
_LABEL_HEIGHT = 26  # pixels above each tile that has a label


@dataclass(frozen=True)
class Tiles:
    """N tiles of ``rows`` x ``columns`` cells in one picture, in reading order; ``centre_rows`` and
    ``centre_columns`` count cells of the picture.
    """

    mosaic: np.ndarray  # (rows of the picture, columns of the picture) uint8
    order: tuple[TileHead, ...]  # (N,)
    across: int  # tiles in a line
    layers: int
    heads: int
    rows: int  # cells of one tile
    columns: int
    row_gap: int  # cells between tiles, and above the first
    column_gap: int
    centre_rows: np.ndarray  # (N,)
    centre_columns: np.ndarray  # (N,)
    pixels_high: float  # of the picture where it is WIDTH wide


def cells_joined(queries: int, keys: int) -> int:
    """How many tokens along an axis share one cell of a tile, 1 where each has its own.

    Example:
        >>> cells_joined(40, 40), cells_joined(300, 300)
        (1, 3)
    """
    return max(1, ceil(max(queries, keys) / MOST_CELLS))


def _arrange(bytes_: np.ndarray, order: Sequence[TileHead] | None, labels: Sequence[str]) -> Tiles:
    """Tiles (L, H, rows, columns) uint8 as a picture; raises the ValueErrors of ``head_grid``."""
    layers, heads = bytes_.shape[:2]
    places = [(layer, head) for layer in range(layers) for head in range(heads)]
    order = tuple(places if order is None else ((layer, head) for layer, head in order))
    if len(set(order)) < len(order) or not set(order) <= set(places):
        raise ValueError(f"order should hold tiles of {layers} x {heads} once each, received {order}")
    if labels and len(labels) != len(order):
        raise ValueError(f"labels should have {len(order)} texts, received {len(labels)}: {labels}")
    across = heads if order == tuple(places) else max(heads, isqrt(max(len(order), 1)))
    chosen = [bytes_[tile] for tile in order]
    tiles = np.array(chosen, np.uint8).reshape(len(order), *bytes_.shape[2:])
    return _placed(tiles, order, (layers, heads), across, bool(labels))


def _checked_weights(weights: ArrayLike, signed: bool) -> np.ndarray:
    weights = np.asarray(weights, dtype=np.float32)
    if weights.size == 0 and weights.ndim != 4:
        weights = np.zeros((0, 0, 0, 0), np.float32)
    if weights.ndim != 4:
        raise ValueError(f"weights should have the shape (L, H, Q, K), received {weights.shape}")
    lowest = -np.inf if signed else -1e-4
    if weights.size and not (np.isfinite(weights).all() and weights.min() >= lowest):
        allowed = "finite" if signed else "finite and not negative"
        raise ValueError(f"weights should be {allowed}, received {weights.min()} to {weights.max()}")
    return weights


def _bytes(weights: np.ndarray, masked: np.ndarray | None, colour_max: float, signed: bool) -> np.ndarray:
    """(L, H, Q, K) floats -> (L, H, rows, columns) uint8 of one tile each."""
    weights = _checked_weights(weights, signed)
    if not 0 < colour_max < np.inf:
        raise ValueError(f"colour_max should be finite and positive, received {colour_max}")
    if signed:
        half = STRONGEST - MIDDLE
        tiles = np.rint(MIDDLE + np.clip(weights / colour_max, -1, 1) * half).astype(np.uint8)
    else:
        shares = np.clip(weights / colour_max, 0, 1)
        tiles = np.rint(WEAKEST + shares * (STRONGEST - WEAKEST)).astype(np.uint8)
    if masked is not None:
        masked = np.asarray(masked, dtype=bool)
        if masked.shape != weights.shape[2:]:
            raise ValueError(
                f"masked should have the shape (Q, K) = {weights.shape[2:]}, received {masked.shape}"
            )
        tiles[:, :, masked] = NO_CELL
    return _shrunk(tiles, cells_joined(*tiles.shape[2:]), signed)


def _shrunk(tiles: np.ndarray, joined: int, signed: bool) -> np.ndarray:
    """(..., Q, K) -> (..., ceil(Q/joined), ceil(K/joined)): the strongest of the cells that are joined."""
    if joined == 1:
        return tiles
    *heads, queries, keys = tiles.shape
    rows, columns = ceil(queries / joined), ceil(keys / joined)
    filling = [(0, 0)] * len(heads) + [(0, rows * joined - queries), (0, columns * joined - keys)]
    blocks = np.pad(tiles, filling, constant_values=NO_CELL)
    blocks = blocks.reshape(*heads, rows, joined, columns, joined)
    highest = blocks.max(axis=(-3, -1))
    if not signed:
        return highest
    lowest = np.where(blocks == NO_CELL, STRONGEST, blocks).min(axis=(-3, -1))
    below = MIDDLE - lowest.astype(int) > highest.astype(int) - MIDDLE
    return np.where(below & (highest != NO_CELL), lowest, highest)


def _placed(
    tiles: np.ndarray, order: tuple[TileHead, ...], grid: tuple[int, int], across: int, labelled: bool
) -> Tiles:
    """(N, rows, columns) -> one picture, ``across`` tiles in each line of it."""
    count, rows, columns = tiles.shape
    down = ceil(count / max(across, 1))
    width = min(_LARGEST_TILE, WIDTH / max(across, 1))
    pixels = max(width, _SMALLEST_TILE) / max(columns, 1)  # of a cell
    gap = max(1, round(max(rows, columns) / 20))
    row_gap = max(gap, ceil(_LABEL_HEIGHT / pixels)) if labelled else gap
    lines = np.arange(count) // max(across, 1)
    return Tiles(
        _mosaic(tiles, across, row_gap, gap),
        order,
        across,
        *grid,
        rows,
        columns,
        row_gap,
        gap,
        lines * (rows + row_gap) + (rows - 1) / 2,
        np.arange(count) % max(across, 1) * (columns + gap) + (columns - 1) / 2,
        max(down, 1) * max(_SMALLEST_TILE, (rows + row_gap) * pixels),
    )


def _mosaic(tiles: np.ndarray, across: int, row_gap: int, column_gap: int) -> np.ndarray:
    """(N, rows, columns) -> the picture: tiles separated by empty cells, none around them."""
    count, rows, columns = tiles.shape
    if tiles.size == 0:
        return np.zeros((0, 0), np.uint8)
    down = ceil(count / across)
    spaced = np.full((down * across, rows + row_gap, columns + column_gap), NO_CELL, np.uint8)
    spaced[:count, :rows, :columns] = tiles
    lines = spaced.reshape(down, across, rows + row_gap, columns + column_gap).transpose(0, 2, 1, 3)
    flat = lines.reshape(down * (rows + row_gap), across * (columns + column_gap))
    return np.ascontiguousarray(flat[:-row_gap, :-column_gap])


_NAMES_HEIGHT = 76  # the colour scale, and the names of the columns
_LABEL_FONT = 11
_NUMBER_WIDTH, _NUMBER_HEIGHT = 20, 12  # pixels that the number of a head, or of a layer, needs
_FOOT = 12


@as_figure
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
    order: Sequence[TileHead] | None = None,
    labels: Sequence[str] = (),
    notes: Mapping[TileHead, str] = MappingProxyType({}),
    chosen: Collection[TileHead] = (),
    marked: Collection[TileHead] = (),
    mark_title: str = "",
    colour_max: float = 1.0,
    signed: bool = False,
    scale: bool = True,
    theme: str = "light",
) -> Specification:
    """Mosaic of every head's attention map: layers from top to bottom, heads from left to right.

    An overview: weights are rounded to steps of colour_max/254, and larger ones show as colour_max. Maps of
    more than MOST_CELLS rows or columns are shrunk, each cell the strongest of those it joins. The
    hover names layer and head; it belongs to one invisible marker per tile, whose ``customdata`` is
    ``(layer, head)`` counted from 0, so that a page can also react to a click on a tile.

    Args:
        weights: (L, H, Q, K) floats in 0..1.
        layer_names, head_names: L and H names; by default 1, 2, 3 …
        masked: (Q, K) bool, True where the mask forbids looking; left blank in every tile.
        order: the tiles ``(layer, head)``, counted from 0, from the top left in reading order; it may leave
            some out. By default every tile is at its layer and head, whose names are on the axes.
        labels: a text above each tile, in the sequence of ``order``, or none.
        notes: a text of some tiles, which their hover shows.
        chosen: tiles that are framed.
        marked: tiles with a small square in their upper right corner.
        mark_title: the meaning of the squares, written above the tiles where there are any.
        colour_max: the weight of the strongest colour.
        signed: whether ``weights`` are amounts of both signs, such as nats; then two colours part at 0, and
            -colour_max is the strongest colour of the other side.
        scale: whether the colour scale is shown; without it and without a title the tiles begin at the top.

    Raises:
        ValueError: shapes that do not fit each other, weights that are not finite, negative ones that are
            not ``signed``, a tile that does not exist or comes twice, a number of labels that is not that
            of the tiles, a colour_max that is not finite and positive, and an unknown theme.

    Example:
        >>> figure = head_grid(np.full((2, 4, 3, 3), 1 / 3))  # two layers of four heads
        >>> len(figure.data[1].customdata)  # one marker for each head
        8
    """
    tiles = _arrange(_bytes(weights, masked, colour_max, signed), order, labels)
    names = (
        _names(layer_names, tiles.layers, "layer_names"),
        _names(head_names, tiles.heads, "head_names"),
    )
    if strange := sorted(set(chosen) - set(tiles.order)):
        raise ValueError(f"chosen should be some of the tiles {tiles.order}, received {strange}")
    titles = (layer_title, head_title)
    captions = Captions(title, titles, theme=theme)
    layout = _layout(tiles, names, captions, by_place=order is None, scale=scale)
    if not tiles.mosaic.size:
        return {"data": [], "layout": layout}
    layout |= {
        "shapes": [
            draw(tiles, place, theme)
            for draw, those in ((_frame, set(chosen)), (_corner, set(marked)))
            for place, tile in enumerate(tiles.order)
            if tile in those
        ],
        "annotations": [_label(tiles, place, text, theme) for place, text in enumerate(labels)],
    }
    if marked and mark_title:
        square = f'<span style="color:{_mark_colour(theme)}">■</span>'
        layout["xaxis"]["title"]["text"] = f"{plain_text(head_title)} ({square} {plain_text(mark_title)})"
    mosaic = _heatmap(tiles, colour_max, signed, weight_title, theme) | {"showscale": scale}
    return {
        "data": [mosaic, _tile_markers(tiles, titles, names, _hovered(tiles, labels, notes))],
        "layout": layout,
    }


def _names(names: Sequence[str] | None, count: int, argument: str) -> tuple[str, ...]:
    names = tuple(str(number + 1) for number in range(count)) if names is None else tuple(names)
    if len(names) != count:
        raise ValueError(f"{argument} should have {count} names, received {len(names)}: {names}")
    return names


def _heatmap(tiles: Tiles, colour_max: float, signed: bool, weight_title: str, theme: str) -> dict:
    grid, colours = palette(theme).grid, weight_colours(1.0, theme, difference=signed, logarithmic=False)
    lowest = -colour_max if signed else 0.0
    edge = WEAKEST / STRONGEST / 2
    scale = [[0, grid], [edge, grid], [edge, colours.ground]]
    scale += [
        [(WEAKEST + share * (STRONGEST - WEAKEST)) / STRONGEST, colour] for share, colour in colours.scale
    ]
    return {
        "type": "heatmap",
        "z": tiles.mosaic,
        "zmin": NO_CELL,
        "zmax": STRONGEST,
        "colorscale": scale,
        "hoverinfo": "skip",
        "colorbar": weight_scale(weight_title, _height(tiles))
        | {
            "tickvals": [WEAKEST, (WEAKEST + STRONGEST) / 2, STRONGEST],
            "ticktext": [f"{value:.3g}" for value in (lowest, (lowest + colour_max) / 2, colour_max)],
            "len": 160,
        },
    }


def _hovered(tiles: Tiles, labels: Sequence[str], notes: Mapping[TileHead, str]) -> list[str]:
    """What the hover of each tile says behind its layer and head."""
    each = zip(tiles.order, labels or [""] * len(tiles.order), strict=True)
    shown = ((label, notes.get(tile, "")) for tile, label in each)
    return ["".join(f"<br><b>{template_text(text)}</b>" for text in both if text) for both in shown]


def _tile_markers(
    tiles: Tiles, titles: tuple[str, str], names: tuple[tuple[str, ...], ...], hovered: Sequence[str]
) -> dict:
    # Heatmap cells cannot be selected, and naming the tile in each of its cells would outweigh the picture.
    layer_title, head_title = map(template_text, titles)
    texts = [
        f"{layer_title} {template_text(names[0][layer])}<br>{head_title} {template_text(names[1][head])}"
        + more
        for (layer, head), more in zip(tiles.order, hovered, strict=True)
    ]
    return {
        "type": "scatter",
        "x": tiles.centre_columns.tolist(),
        "y": tiles.centre_rows.tolist(),
        "customdata": tiles.order,
        "text": texts,
        "mode": "markers",
        "marker": {"symbol": "square", "size": 20, "opacity": 0},
        "hovertemplate": "%{text}<extra></extra>",
        "showlegend": False,
    }


def _frame(tiles: Tiles, place: int, theme: str) -> dict:
    """A frame around one tile, inside the gap."""
    beside = (tiles.columns + tiles.column_gap) / 2
    above = (tiles.rows + min(tiles.row_gap, tiles.column_gap)) / 2
    row, column = tiles.centre_rows[place], tiles.centre_columns[place]
    return rectangle((column - beside, column + beside), (row - above, row + above), palette(theme).accent, 3)


def _corner(tiles: Tiles, place: int, theme: str) -> dict:
    """A small filled square in the upper right corner of one tile."""
    side = max(tiles.columns / 8, 0.5)
    right = tiles.centre_columns[place] + tiles.columns / 2
    top = tiles.centre_rows[place] - tiles.rows / 2
    square = rectangle((right - side, right), (top, top + side), _mark_colour(theme), 1)
    return square | {"fillcolor": _mark_colour(theme)}


def _mark_colour(theme: str) -> str:
    """Another colour than that of frames."""
    return palette(theme).qualitative[2]


def _label(tiles: Tiles, place: int, text: str, theme: str) -> dict:
    return {
        "text": plain_text(text),
        "x": tiles.centre_columns[place] - tiles.columns / 2,
        "xanchor": "left",
        # As far from the frame above as from its own.
        "y": tiles.centre_rows[place] - (tiles.rows + tiles.row_gap) / 2,
        "yanchor": "middle",
        "borderpad": 0,
        "showarrow": False,
        "font": {"size": _LABEL_FONT, "color": palette(theme).text},
    }


def _height(tiles: Tiles) -> float:
    return TITLE_HEIGHT + _NAMES_HEIGHT + tiles.pixels_high + _FOOT


def _tile_axis(theme: str, title: str, ticks: tuple[Sequence[str], np.ndarray, float], **parts: Any) -> dict:
    """An axis of ``ticks``: names, their places, and how many tiles a number needs. Where that is more than
    one, only every second, third … number is written.
    """
    names, places, room = ticks
    step = max(ceil(room), 1) if all(name.isdigit() for name in names) else 1
    shown = map(plain_text, names[: len(places) : step])
    fixed = {"constrain": "domain", "fixedrange": True}
    return named_axis(theme, title, shown, places[::step].tolist(), **fixed, **parts)


def _layout(
    tiles: Tiles,
    names: tuple[tuple[str, ...], ...],
    captions: Captions,
    *,
    by_place: bool,
    scale: bool,
) -> dict:
    title, titles, theme = captions.title, captions.titles, captions.theme
    rows, columns = (max(count, 1) for count in tiles.mosaic.shape)
    head = TITLE_HEIGHT + _NAMES_HEIGHT if scale or title else _NAMES_HEIGHT // 2
    height = head + tiles.pixels_high + _FOOT
    down = max(len(tiles.order) // max(tiles.across, 1), 1)
    layer_title, head_title = titles if by_place else ("", "")
    return base_layout(theme, title, height) | {
        "xaxis": _tile_axis(
            theme,
            head_title,
            (names[1], tiles.centre_columns[: tiles.heads], _NUMBER_WIDTH * tiles.across / WIDTH),
            showticklabels=by_place,
            side="top",
            range=[-0.5 - tiles.column_gap, columns - 0.5 + tiles.column_gap],
            constraintoward="left",
        ),
        "yaxis": _tile_axis(
            theme,
            layer_title,
            (names[0], tiles.centre_rows[:: max(tiles.heads, 1)], _NUMBER_HEIGHT * down / tiles.pixels_high),
            showticklabels=by_place,
            range=[rows - 0.5 + tiles.column_gap, -0.5 - tiles.row_gap],
            scaleanchor="x",
            constraintoward="top",
            automargin=True,
        ),
        "margin": {"t": head, "l": 40 if by_place else 8, "r": 16, "b": _FOOT},
        # So that the invisible marker in the middle of a tile answers for the whole tile.
        "hoverdistance": 300,
        # For a page that fits the figure to its room and moves from tile to tile with the arrow keys.
        "meta": {
            "fit": "box",
            "still": True,
            "across": tiles.across,
            "ratio": rows / columns,
            "half": [tiles.columns / 2, tiles.rows / 2],
            # Cells between two frames, where names are written above the tiles.
            **({} if by_place else {"gap": tiles.row_gap - min(tiles.row_gap, tiles.column_gap)}),
        },
    }
