"""Charts of the positional encoding: matrix, curves, similarity, shifts, norms.

The norms are those of the encoding beside those of the embedding.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from viz.axes import cell_size, column_ticks
from viz.figure import PLAIN, TITLE_HEIGHT, Captions, base_axis, base_layout, weight_scale
from viz.labels import plain_text, template_text, token_label, visible_token
from viz.theme import colour_scale, palette

_MATRIX_HEIGHT = 440
_CURVES_HEIGHT = 400


def positional_encoding_heatmap(
    matrix: np.ndarray,
    *,
    tokens: Sequence[str] = (),
    captions: Captions = PLAIN,
) -> go.Figure:
    """Heatmap of a positional-encoding matrix: positions downwards from 1, dimensions to the right from 0.

    Args:
        matrix: (P, D) floats in -1..1. Colours always run from -1 (blue) over 0 to 1 (red).
        tokens: at most P tokens of a sentence, named beside the numbers of their rows.
        captions: titles and hover names of dimension, position and value; the last title is that of the
            colour scale.

    The numbers travel exactly, as float32: 50 x 128 of them take 50 kB of JSON, 512 x 512 take 1.9 MB.

    Raises:
        ValueError: another rank, for values outside -1..1, and for an unknown theme.

    Example:
        >>> positional_encoding_heatmap(np.zeros((50, 16))).data[0].z.shape
        (50, 16)
    """
    matrix = _checked_matrix(matrix)
    all_three = ("Dimension", "Position", "Value")
    captions = captions.or_else(all_three, all_three)
    titles, theme = captions.titles, captions.theme
    positions, dimensions = matrix.shape
    shared = {"showgrid": False}
    named = [f"{row} {token_label(token)}" for row, token in enumerate(tokens, start=1)]
    numbers = list(range(1, positions + 1)) if tokens else None
    rows = {"tickvals": numbers, "ticktext": named + [str(row) for row in (numbers or [])[len(named) :]]}
    layout = base_layout(theme, captions.title, _MATRIX_HEIGHT) | {
        "xaxis": base_axis(theme, titles[0], **shared, range=[-0.5, max(dimensions, 1) - 0.5]),
        "yaxis": base_axis(theme, titles[1], **shared, range=[max(positions, 1) + 0.5, 0.5], automargin=True)
        | (rows if tokens else {}),
        "margin": {"t": TITLE_HEIGHT + 8, "l": 50, "r": 16, "b": 50},
    }
    return go.Figure([_matrix_heatmap(matrix, captions)] if matrix.size else [], layout)


def _matrix_heatmap(matrix: np.ndarray, captions: Captions) -> go.Heatmap:
    dimension_name, position_name, value_name = map(template_text, captions.hover)
    return go.Heatmap(
        z=matrix,
        y0=1,
        zmin=-1,
        zmax=1,
        colorscale=colour_scale(palette(captions.theme).diverging),
        hovertemplate=f"{position_name}: <b>%{{y:d}}</b><br>{dimension_name}: <b>%{{x:d}}</b>"
        f"<br>{value_name}: <b>%{{z:.3f}}</b><extra></extra>",
        colorbar={
            "title": {"text": plain_text(captions.titles[2]), "side": "right", "font": {"size": 13}},
            "thickness": 12,
            "tickvals": [-1, -0.5, 0, 0.5, 1],
            "outlinewidth": 0,
        },
    )


def positional_encoding_curves(
    matrix: np.ndarray,
    dimensions: Sequence[int],
    *,
    captions: Captions = PLAIN,
) -> go.Figure:
    """One curve over the positions, counted from 1, for each chosen dimension.

    Even dimensions are sines and drawn solid, odd ones cosines and dashed. Dimensions 2i and 2i+1 turn at
    the same rate and share a colour; after eight rates the colours return with thicker lines.

    Args:
        matrix: (P, D) floats in -1..1.
        dimensions: the columns to draw, each in 0..D-1; a repeated one is drawn once.
        captions: titles and hover names of position and value; legend names of sines and of cosines, with
            ``{dimension}`` where the number goes.

    Raises:
        ValueError: another rank, values outside -1..1, a dimension that does not exist, an unknown theme.

    Example:
        >>> [curve.name for curve in positional_encoding_curves(np.zeros((50, 16)), [0, 1]).data]
        ['dim 0 (sin)', 'dim 1 (cos)']
    """
    both = ("Position", "Value")
    captions = captions.or_else(both, both, ("dim {dimension} (sin)", "dim {dimension} (cos)"))
    titles, theme = captions.titles, captions.theme
    curves = _curves(_checked_matrix(matrix), dimensions)
    layout = base_layout(theme, captions.title, _CURVES_HEIGHT) | {
        "xaxis": base_axis(theme, titles[0]),
        "yaxis": base_axis(theme, titles[1], range=[-1.05, 1.05], automargin=True),
        "margin": {"t": TITLE_HEIGHT + 8, "l": 50, "r": 16, "b": 50},
        "showlegend": True,
    }
    return go.Figure([_line(curve, captions) for curve in curves], layout)


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


def _line(curve: _Curve, captions: Captions) -> go.Scatter:
    colours = palette(captions.theme).qualitative
    rounds, colour = divmod(curve.rate, len(colours))
    is_cosine = curve.dimension % 2
    position_name, value_name = (template_text(name) for name in captions.hover)
    name = captions.names[is_cosine].replace("{dimension}", str(curve.dimension))
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


_SIMILARITY_HEIGHT = 480
_CURVE_HEIGHT = 320
_SCALE_HEIGHT = 62  # of the colour scale with its title and numbers


def position_similarity_heatmap(
    similarities: np.ndarray,
    *,
    captions: Captions = PLAIN,
) -> go.Figure:
    """Heatmap of the dot products of all pairs of positional encodings, positions from 0 on both axes.

    Args:
        similarities: (P, P) floats. Colours run from the negative of the largest of them (blue) over 0 to the
            largest itself (red), which is that of a position with itself.
        captions: titles of both axes and of the colour scale; also in the hover.

    The numbers travel exactly, as float32: 64 x 64 of them take 22 kB of JSON, 512 x 512 take 1.4 MB.

    Raises:
        ValueError: another shape and for an unknown theme.

    Example:
        >>> position_similarity_heatmap(np.array([[4.0, 3.0], [3.0, 4.0]])).data[0].z.tolist()
        [[4.0, 3.0], [3.0, 4.0]]
    """
    similarities = _checked(similarities, 2)
    if similarities.shape[0] != similarities.shape[1]:
        raise ValueError(f"similarities should have the shape (P, P), received {similarities.shape}")
    captions = captions.or_else(("Position", "Similarity"))
    titles, theme, positions = captions.titles, captions.theme, max(len(similarities), 1)
    axis = base_axis(theme, titles[0], showgrid=False)
    layout = base_layout(theme, captions.title, _SIMILARITY_HEIGHT) | {
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
        "margin": {"t": TITLE_HEIGHT + _SCALE_HEIGHT, "l": 50, "r": 16, "b": 50},
    }
    return go.Figure([_heatmap(similarities, captions)] if similarities.size else [], layout)


def _heatmap(similarities: np.ndarray, captions: Captions) -> go.Heatmap:
    largest = float(np.abs(similarities).max()) or 1.0
    position_name, value_name = map(template_text, captions.titles)
    return go.Heatmap(
        z=similarities,
        x0=1,
        y0=1,
        zmin=-largest,
        zmax=largest,
        colorscale=colour_scale(palette(captions.theme).diverging),
        hovertemplate=f"{position_name}: <b>%{{y:d}}</b>, <b>%{{x:d}}</b>"
        f"<br>{value_name}: <b>%{{z:.2f}}</b><extra></extra>",
        colorbar=weight_scale(captions.titles[1], _SIMILARITY_HEIGHT)
        | {"title": {"text": plain_text(captions.titles[1]), "side": "top", "font": {"size": 13}}},
    )


def position_similarity_curve(
    by_distance: np.ndarray,
    *,
    captions: Captions = PLAIN,
) -> go.Figure:
    """Similarity against the distance of two positions.

    Args:
        by_distance: (P,) floats, the similarity of positions that lie 0, 1, 2, … apart.
        captions: titles of distance and similarity, on the axes and in the hover.

    Raises:
        ValueError: another rank and for an unknown theme.

    Example:
        >>> position_similarity_curve(np.array([4.0, 3.0, 1.0])).data[0].y.tolist()
        [4.0, 3.0, 1.0]
    """
    by_distance = _checked(by_distance, 1)
    captions = captions.or_else(("Distance", "Similarity"))
    titles, theme, colours = captions.titles, captions.theme, palette(captions.theme)
    layout = base_layout(theme, captions.title, _CURVE_HEIGHT) | {
        "xaxis": base_axis(theme, titles[0], rangemode="tozero"),
        "yaxis": base_axis(
            theme,
            titles[1],
            rangemode="tozero",
            zeroline=True,
            zerolinecolor=colours.quiet_text,
            automargin=True,
        ),
        "margin": {"t": TITLE_HEIGHT + 8, "l": 50, "r": 16, "b": 50},
    }
    distance_name, value_name = (template_text(name) for name in titles)
    curve = go.Scatter(
        x0=0,
        dx=1,
        y=by_distance,
        mode="lines+markers" if len(by_distance) <= 64 else "lines",
        line={"color": colours.qualitative[0], "width": 2},
        hovertemplate=f"{distance_name}: <b>%{{x:d}}</b><br>{value_name}: <b>%{{y:.2f}}</b><extra></extra>",
    )
    return go.Figure([curve] if by_distance.size else [], layout)


def _checked(values: ArrayLike, rank: int) -> np.ndarray:
    values = np.asarray(values, np.float32)
    if values.size == 0:
        return np.zeros((0,) * rank, np.float32)
    if values.ndim != rank:
        raise ValueError(f"similarities should have {rank} dimensions, received the shape {values.shape}")
    return values


_HEIGHT = 360
_DASHES = ("dash", "dot", "dashdot", "longdash")
_LEGEND_HEIGHT = 48


@dataclass(frozen=True)
class ShiftReference:
    """A token in place of the one that moves, as a level line.

    Example:
        >>> ShiftReference("방", 5.0).token
        '방'
    """

    token: str
    value: float


def position_shift(
    moved: np.ndarray,
    others: Sequence[ShiftReference] = (),
    *,
    captions: Captions = PLAIN,
) -> go.Figure:
    """A measure of a moved token against how far it moved, and the same measure of ``others`` that did not.

    Args:
        moved: (P,) floats, the measure after 0, 1, 2, … positions.
        others: at most a few; each gets its own colour and dash.
        captions: titles of the axis of positions and of the measure, also in the hover; names of the moved
            token and of each other one, with ``{token}`` where the token goes.

    Raises:
        ValueError: another rank and for an unknown theme.

    Example:
        >>> figure = position_shift(np.array([0.0, 1.0, 2.0]), [ShiftReference("방", 5.0)])
        >>> [trace.name for trace in figure.data]
        ['the same token, moved', '방 in its place']
    """
    moved = np.asarray(moved, np.float32)
    if moved.ndim != 1:
        raise ValueError(f"moved should have the shape (P,), received {moved.shape}")
    captions = captions.or_else(
        ("Positions moved", "Distance"), names=("the same token, moved", "{token} in its place")
    )
    titles, theme = captions.titles, captions.theme
    layout = base_layout(theme, captions.title, _HEIGHT) | {
        "xaxis": base_axis(theme, titles[0]),
        "yaxis": base_axis(theme, titles[1], rangemode="tozero", automargin=True),
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"},
        "showlegend": True,
        "height": _HEIGHT + _LEGEND_HEIGHT,
        "margin": {"t": TITLE_HEIGHT + _LEGEND_HEIGHT, "l": 50, "r": 16, "b": 50},
    }
    if not moved.size:
        return go.Figure(layout=layout)
    levels = [_level(other, len(moved), index, captions) for index, other in enumerate(others)]
    return go.Figure([_curve(moved, captions), *levels], layout)


def _curve(moved: np.ndarray, captions: Captions) -> go.Scatter:
    shift_name, value_name = (template_text(text) for text in captions.titles)
    name = captions.names[0]
    return go.Scatter(
        x0=0,
        dx=1,
        y=moved,
        mode="lines",
        name=plain_text(name),
        line={"color": palette(captions.theme).qualitative[0], "width": 3},
        hovertemplate=f"{template_text(name)}<br>{shift_name}: <b>%{{x:d}}</b>"
        f"<br>{value_name}: <b>%{{y:.3f}}</b><extra></extra>",
    )


def _level(other: ShiftReference, positions: int, index: int, captions: Captions) -> go.Scatter:
    colours = palette(captions.theme).qualitative[1:]
    name = captions.names[1].replace("{token}", visible_token(other.token))
    return go.Scatter(
        x=[0, max(positions - 1, 1)],
        y=[other.value, other.value],
        mode="lines",
        name=plain_text(name),
        line={"color": colours[index % len(colours)], "width": 2, "dash": _DASHES[index % len(_DASHES)]},
        hovertemplate=f"{template_text(name)}<br>{template_text(captions.titles[1])}: "
        "<b>%{y:.3f}</b><extra></extra>",
    )


_SIZES_HEIGHT = 380
_SIZES_LEGEND = 64  # three entries, below one another on a phone


@dataclass(frozen=True)
class _Series:
    name: str
    values: np.ndarray  # (S,)
    colour: str
    pattern: str  # of the bars; "" is plain


def embedding_sizes(
    tokens: Sequence[str],
    embedding: np.ndarray,
    scaled: np.ndarray,
    encoding: np.ndarray,
    *,
    captions: Captions = PLAIN,
) -> go.Figure:
    """Two bars for each token, its embedding without and with the factor, and the encoding as a line.
    Positions count from 1.

    Args:
        tokens: (S,) labels, in the order of the sentence; repeated ones keep their own places.
        embedding, scaled, encoding: (S,) lengths.
        captions: titles of the axis of tokens and that of lengths; names of the three.

    Raises:
        ValueError: the lengths differ and for an unknown theme.

    Example:
        >>> embedding = np.array([1.0, 1.5])
        >>> figure = embedding_sizes(["가", "방"], embedding, 16 * embedding, np.array([11.0, 11.0]))
        >>> [trace.name for trace in figure.data]
        ['embedding', 'embedding × √D', 'positional encoding']
    """
    captions = captions.or_else(
        ("Token", "Length of the vector"), names=("embedding", "embedding × √D", "positional encoding")
    )
    titles, theme = captions.titles, captions.theme
    series = _series(tokens, (embedding, scaled, encoding), captions.names, theme)
    ticks = column_ticks(tokens, cell_size(len(tokens)))
    layout = base_layout(theme, captions.title, _SIZES_HEIGHT) | {
        "barmode": "group",
        "bargap": 0.25,
        "xaxis": ticks.axis(
            theme, titles[0], ticks.below(), 1, range=[0.5, max(len(tokens), 1) + 0.5], automargin=True
        ),
        "yaxis": base_axis(theme, titles[1], rangemode="tozero", automargin=True),
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"},
        "showlegend": True,
        "height": _SIZES_HEIGHT + _SIZES_LEGEND,
        "margin": {"t": TITLE_HEIGHT + _SIZES_LEGEND, "l": 50, "r": 16, "b": 50},
    }
    if not len(tokens):
        return go.Figure(layout=layout)
    plain, factor, position = series
    labels = [token_label(token) for token in tokens]
    return go.Figure([_bars(plain, labels), _bars(factor, labels), _size_line(position, labels)], layout)


def _series(
    tokens: Sequence[str], lengths: Iterable[ArrayLike], names: Iterable[str], theme: str
) -> list[_Series]:
    arrays = [np.asarray(each, np.float32) for each in lengths]
    if any(each.shape != (len(tokens),) for each in arrays):
        shapes = [each.shape for each in arrays]
        raise ValueError(f"each of {len(tokens)} tokens should have three lengths, received {shapes}")
    colours = palette(theme).qualitative
    looks = ((colours[0], "/"), (colours[0], ""), (colours[1], ""))
    return [_Series(name, values, *look) for name, values, look in zip(names, arrays, looks, strict=True)]


def _bars(series: _Series, labels: list[str]) -> go.Bar:
    return go.Bar(
        x0=1,
        y=series.values,
        name=plain_text(series.name),
        customdata=labels,
        marker={
            "color": series.colour,
            "pattern": {"shape": series.pattern, "size": 5, "solidity": 0.35},
            "line": {"width": 0},
        },
        hovertemplate=_hover(series),
    )


def _size_line(series: _Series, labels: list[str]) -> go.Scatter:
    return go.Scatter(
        x0=1,
        y=series.values,
        name=plain_text(series.name),
        customdata=labels,
        mode="lines+markers",
        marker={"size": 5, "symbol": "diamond"},
        line={"color": series.colour, "width": 3},
        hovertemplate=_hover(series),
    )


def _hover(series: _Series) -> str:
    return (
        f"<b>%{{customdata}}</b> (%{{x:d}})<br>{template_text(series.name)}: <b>%{{y:.2f}}</b><extra></extra>"
    )
