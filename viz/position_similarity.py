"""How similar two positional encodings are: a matrix of all pairs, and a curve over the distance of the positions."""

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from viz.figure import TITLE_HEIGHT, base_axis, base_layout, figure_title, weight_scale
from viz.labels import plain_text, template_text
from viz.theme import colour_scale, palette

_MATRIX_HEIGHT = 480
_CURVE_HEIGHT = 320
_SCALE_HEIGHT = 62  # of the colour scale with its title and numbers


def position_similarity_heatmap(
    similarities: np.ndarray,
    *,
    title: str = "",
    titles: tuple[str, str] = ("Position", "Similarity"),
    theme: str = "light",
) -> go.Figure:
    """Heatmap of the dot products of all pairs of positional encodings, positions from 0 on both axes.

    Args:
        similarities: (P, P) floats. Colours run from the negative of the largest of them (blue) over 0 to the
            largest itself (red), which is that of a position with itself.
        titles: of both axes and of the colour scale; also in the hover.

    The numbers travel exactly, as float32: 64 x 64 of them take 22 kB of JSON, 512 x 512 take 1.4 MB.
    Raises ValueError for another shape and for an unknown theme.

    >>> position_similarity_heatmap(np.array([[4.0, 3.0], [3.0, 4.0]])).data[0].z.tolist()
    [[4.0, 3.0], [3.0, 4.0]]
    """
    similarities = _checked(similarities, 2)
    if similarities.shape[0] != similarities.shape[1]:
        raise ValueError(f"similarities should have the shape (P, P), received {similarities.shape}")
    positions = max(len(similarities), 1)
    axis = base_axis(theme, plain_text(titles[0])) | {"showgrid": False}
    layout = base_layout(theme) | {
        "title": figure_title(plain_text(title), _MATRIX_HEIGHT),
        # Square cells, so that the same distance is the same line in every direction.
        "xaxis": axis | {"range": [0.5, positions + 0.5], "constrain": "domain", "constraintoward": "left"},
        "yaxis": axis
        | {
            "range": [positions + 0.5, 0.5],
            "scaleanchor": "x",
            "constrain": "domain",
            "constraintoward": "top",
            "automargin": True,
        },
        "height": _MATRIX_HEIGHT,
        "margin": {"t": TITLE_HEIGHT + _SCALE_HEIGHT, "l": 50, "r": 16, "b": 50},
    }
    figure = go.Figure(layout=layout)
    if similarities.size:
        figure.add_trace(_heatmap(similarities, titles, theme))
    return figure


def _heatmap(similarities: np.ndarray, titles: tuple[str, str], theme: str) -> go.Heatmap:
    largest = float(np.abs(similarities).max()) or 1.0
    position_name, value_name = (template_text(name) for name in titles)
    return go.Heatmap(
        z=similarities,
        x0=1,
        y0=1,
        zmin=-largest,
        zmax=largest,
        colorscale=colour_scale(palette(theme).diverging),
        hovertemplate=f"{position_name}: <b>%{{y:d}}</b>, <b>%{{x:d}}</b>"
        f"<br>{value_name}: <b>%{{z:.2f}}</b><extra></extra>",
        colorbar=weight_scale(plain_text(titles[1]), _MATRIX_HEIGHT)
        | {"title": {"text": plain_text(titles[1]), "side": "top", "font": {"size": 13}}},
    )


def position_similarity_curve(
    by_distance: np.ndarray,
    *,
    title: str = "",
    titles: tuple[str, str] = ("Distance", "Similarity"),
    theme: str = "light",
) -> go.Figure:
    """Similarity against the distance of two positions.

    Args:
        by_distance: (P,) floats, the similarity of positions that lie 0, 1, 2, … apart.
        titles: of distance and similarity, on the axes and in the hover.

    Raises ValueError for another rank and for an unknown theme.

    >>> position_similarity_curve(np.array([4.0, 3.0, 1.0])).data[0].y.tolist()
    [4.0, 3.0, 1.0]
    """
    by_distance = _checked(by_distance, 1)
    colours = palette(theme)
    layout = base_layout(theme) | {
        "title": figure_title(plain_text(title), _CURVE_HEIGHT),
        "xaxis": base_axis(theme, plain_text(titles[0])) | {"rangemode": "tozero"},
        "yaxis": base_axis(theme, plain_text(titles[1]))
        | {"rangemode": "tozero", "zeroline": True, "zerolinecolor": colours.quiet_text, "automargin": True},
        "height": _CURVE_HEIGHT,
        "margin": {"t": TITLE_HEIGHT + 8, "l": 50, "r": 16, "b": 50},
    }
    figure = go.Figure(layout=layout)
    if by_distance.size:
        distance_name, value_name = (template_text(name) for name in titles)
        figure.add_trace(
            go.Scatter(
                x0=0,
                dx=1,
                y=by_distance,
                mode="lines+markers" if len(by_distance) <= 64 else "lines",
                line={"color": colours.qualitative[0], "width": 2},
                hovertemplate=f"{distance_name}: <b>%{{x:d}}</b>"
                f"<br>{value_name}: <b>%{{y:.2f}}</b><extra></extra>",
            )
        )
    return figure


def _checked(values: ArrayLike, rank: int) -> np.ndarray:
    values = np.asarray(values, np.float32)
    if values.size == 0:
        return np.zeros((0,) * rank, np.float32)
    if values.ndim != rank:
        raise ValueError(f"similarities should have {rank} dimensions, received the shape {values.shape}")
    return values
