"""The positional encoding: a heatmap of its matrix, and curves of single dimensions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from viz.figure import TITLE_HEIGHT, base_axis, base_layout, figure_title
from viz.labels import plain_text, template_text
from viz.theme import colour_scale, palette

_MATRIX_HEIGHT = 440
_CURVES_HEIGHT = 400


def positional_encoding_heatmap(
    matrix: np.ndarray,
    *,
    title: str = "",
    titles: tuple[str, str, str] = ("Dimension", "Position", "Value"),
    hover: tuple[str, str, str] = ("Dimension", "Position", "Value"),
    theme: str = "light",
) -> go.Figure:
    """Heatmap of a positional-encoding matrix: positions downwards from 1, dimensions to the right from 0.

    Args:
        matrix: (P, D) floats in -1..1. Colours always run from -1 (blue) over 0 to 1 (red).
        titles: of the axis of dimensions, the axis of positions, and the colour scale.
        hover: names of dimension, position and value in the hover.

    The numbers travel exactly, as float32: 50 x 128 of them take 50 kB of JSON, 512 x 512 take 1.9 MB.
    Raises ValueError for another rank, for values outside -1..1, and for an unknown theme.

    >>> positional_encoding_heatmap(np.zeros((50, 16))).data[0].z.shape
    (50, 16)
    """
    matrix = _checked_matrix(matrix)
    positions, dimensions = matrix.shape
    shared = {"showgrid": False}
    layout = base_layout(theme) | {
        "title": figure_title(plain_text(title), _MATRIX_HEIGHT),
        "xaxis": base_axis(theme, plain_text(titles[0]))
        | shared
        | {"range": [-0.5, max(dimensions, 1) - 0.5]},
        "yaxis": base_axis(theme, plain_text(titles[1]))
        | shared
        | {"range": [max(positions, 1) + 0.5, 0.5], "automargin": True},
        "height": _MATRIX_HEIGHT,
        "margin": {"t": TITLE_HEIGHT + 8, "l": 50, "r": 16, "b": 50},
    }
    figure = go.Figure(layout=layout)
    if matrix.size:
        figure.add_trace(_matrix_heatmap(matrix, titles[2], hover, theme))
    return figure


def _matrix_heatmap(
    matrix: np.ndarray, value_title: str, hover: tuple[str, str, str], theme: str
) -> go.Heatmap:
    dimension_name, position_name, value_name = (template_text(name) for name in hover)
    return go.Heatmap(
        z=matrix,
        y0=1,
        zmin=-1,
        zmax=1,
        colorscale=colour_scale(palette(theme).diverging),
        hovertemplate=f"{position_name}: <b>%{{y:d}}</b><br>{dimension_name}: <b>%{{x:d}}</b>"
        f"<br>{value_name}: <b>%{{z:.3f}}</b><extra></extra>",
        colorbar={
            "title": {"text": plain_text(value_title), "side": "right", "font": {"size": 13}},
            "thickness": 12,
            "tickvals": [-1, -0.5, 0, 0.5, 1],
            "outlinewidth": 0,
        },
    )


def positional_encoding_curves(
    matrix: np.ndarray,
    dimensions: Sequence[int],
    *,
    title: str = "",
    titles: tuple[str, str] = ("Position", "Value"),
    hover: tuple[str, str] = ("Position", "Value"),
    curve_names: tuple[str, str] = ("dim {dimension} (sin)", "dim {dimension} (cos)"),
    theme: str = "light",
) -> go.Figure:
    """One curve over the positions, counted from 1, for each chosen dimension.

    Even dimensions are sines and drawn solid, odd ones cosines and dashed. Dimensions 2i and 2i+1 turn at
    the same rate and share a colour; after eight rates the colours return with thicker lines.

    Args:
        matrix: (P, D) floats in -1..1.
        dimensions: the columns to draw, each in 0..D-1; a repeated one is drawn once.
        titles, hover: names of position and value, on the axes and in the hover.
        curve_names: legend texts of sines and of cosines, with ``{dimension}`` where the number goes.

    Raises ValueError for another rank, values outside -1..1, a dimension that does not exist, an unknown
    theme.

    >>> [curve.name for curve in positional_encoding_curves(np.zeros((50, 16)), [0, 1]).data]
    ['dim 0 (sin)', 'dim 1 (cos)']
    """
    curves = _curves(_checked_matrix(matrix), dimensions)
    layout = base_layout(theme) | {
        "title": figure_title(plain_text(title), _CURVES_HEIGHT),
        "xaxis": base_axis(theme, plain_text(titles[0])),
        "yaxis": base_axis(theme, plain_text(titles[1])) | {"range": [-1.05, 1.05], "automargin": True},
        "height": _CURVES_HEIGHT,
        "margin": {"t": TITLE_HEIGHT + 8, "l": 50, "r": 16, "b": 50},
        "showlegend": True,
    }
    return go.Figure([_line(curve, hover, curve_names, theme) for curve in curves], layout)


@dataclass(frozen=True)
class _Curve:
    dimension: int
    values: np.ndarray  # (P,) float32
    rate: int  # counts the distinct rates drawn so far, so that neighbours in the legend differ in colour


def _curves(matrix: np.ndarray, dimensions: Sequence[int]) -> list[_Curve]:
    count = matrix.shape[1]
    chosen = list(dict.fromkeys(int(dimension) for dimension in dimensions))
    strange = [dimension for dimension in chosen if not 0 <= dimension < count]
    if strange and matrix.size:
        raise ValueError(f"dimensions should lie in 0..{count - 1}, received {strange}")
    if not matrix.size:
        return []
    rates = list(dict.fromkeys(dimension // 2 for dimension in chosen))
    return [_Curve(d, np.ascontiguousarray(matrix[:, d]), rates.index(d // 2)) for d in chosen]


def _line(curve: _Curve, hover: tuple[str, str], curve_names: tuple[str, str], theme: str) -> go.Scatter:
    colours = palette(theme).qualitative
    rounds, colour = divmod(curve.rate, len(colours))
    is_cosine = curve.dimension % 2
    position_name, value_name = (template_text(name) for name in hover)
    name = curve_names[is_cosine].replace("{dimension}", str(curve.dimension))
    return go.Scatter(
        x0=1,
        dx=1,
        y=curve.values,
        mode="lines",
        name=plain_text(name),
        line={"color": colours[colour], "dash": "dash" if is_cosine else "solid", "width": 2 + 2 * rounds},
        hovertemplate=f"{template_text(name)}<br>{position_name}: <b>%{{x:d}}</b>"
        f"<br>{value_name}: <b>%{{y:.3f}}</b><extra></extra>",
    )


def _checked_matrix(matrix: ArrayLike) -> np.ndarray:
    matrix = np.asarray(matrix, dtype=np.float32)
    if matrix.size == 0 and matrix.ndim != 2:
        matrix = np.zeros((0, 0), np.float32)
    if matrix.ndim != 2:
        raise ValueError(f"matrix should have the shape (P, D), received {matrix.shape}")
    if matrix.size and not (matrix.min() >= -1.0001 and matrix.max() <= 1.0001):
        raise ValueError(f"matrix should hold values in -1..1, received {matrix.min()} to {matrix.max()}")
    return matrix
