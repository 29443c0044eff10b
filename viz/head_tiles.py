"""Puts the attention maps of many heads into one picture, one byte for each cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isqrt

import numpy as np
from numpy.typing import ArrayLike

TileHead = tuple[int, int]  # layer and head, both counted from 0

# One byte a cell: 1..255 are weights from 0 to colour_max, 0 is no cell at all (a gap, or masked). Gaps have
# many bytes in a row: in base64 zeros are "AAAA", but 255s are "////", and Plotly's JSON escapes each slash with six characters.
NO_CELL, WEAKEST, STRONGEST = 0, 1, 255
MIDDLE = 128  # the byte that stands for 0 where values have both signs

# Pixels that all tiles of a line share out: an overview stands beside what it opens.
WIDTH = 420

# A tile has about 105 pixels: more cells than this could not be told apart, only downloaded.
MOST_CELLS = 128

_LARGEST_TILE, _SMALLEST_TILE = 160, 24  # pixels
_LABEL_HEIGHT = 26  # pixels above each tile that has a label


@dataclass(frozen=True)
class Tiles:
    """N tiles of ``rows`` x ``columns`` cells in one picture, in reading order; ``centre_rows`` and ``centre_columns`` count cells of the picture."""

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

    >>> cells_joined(40, 40), cells_joined(300, 300)
    (1, 3)
    """
    return max(1, ceil(max(queries, keys) / MOST_CELLS))


def arrange(
    weights: np.ndarray,
    masked: np.ndarray | None,
    order: Sequence[TileHead] | None,
    labels: Sequence[str],
    colour_max: float,
    signed: bool = False,
) -> Tiles:
    """The arguments of ``head_grid`` as a picture; raises the ValueErrors it names."""
    weights = _checked_weights(weights, signed)
    if not 0 < colour_max < np.inf:
        raise ValueError(f"colour_max should be finite and positive, received {colour_max}")
    layers, heads = weights.shape[:2]
    places = [(layer, head) for layer in range(layers) for head in range(heads)]
    order = tuple(places if order is None else ((layer, head) for layer, head in order))
    if len(set(order)) < len(order) or not set(order) <= set(places):
        raise ValueError(f"order should hold tiles of {layers} x {heads} once each, received {order}")
    if labels and len(labels) != len(order):
        raise ValueError(f"labels should have {len(order)} texts, received {len(labels)}: {labels}")
    bytes_ = _bytes(weights, masked, colour_max, signed)
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
