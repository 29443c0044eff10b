"""Charts of values by layer: a layer-by-token grid, a map of signed values, a curve."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from viz.axes import cell_size, column_ticks, named_axis
from viz.figure import (
    PLAIN,
    TITLE_HEIGHT,
    Captions,
    Specification,
    as_figure,
    base_axis,
    base_layout,
    rectangle,
    upright_line,
    weight_scale,
)
from viz.labels import cell_label, plain_text, template_text, visible_token, width_in_em
from viz.theme import colour_scale, palette

_ROW, _LEAST_ROW, _SCALE, _FOOT, _EM = 28, 17, 36, 40, 13  # pixels; an em is that of the names
_BAR = 300  # pixels of the colour bar and its title
_TYPE, _SMALL_TYPE, _MANY = 13, 9, 44  # pixels of the texts; the smaller type with more than _MANY columns


@as_figure
def layer_grid(
    texts: Sequence[Sequence[str]],
    probabilities: np.ndarray,
    places: Sequence[str],
    tokens: Sequence[str],
    *,
    details: Sequence[Sequence[str]] | None = None,
    outlined: int | None = None,
    emphasis: Collection[int] = (),
    title: str = "",
    place_title: str = "Place",
    token_title: str = "Token",
    probability_title: str = "Probability",
    theme: str = "light",
) -> Specification:
    """P rows, from the beginning of the network down to its end, and T columns; step t lies at x = t + 1.

    Args:
        texts: (P, T) texts of the cells, as they were typed; they are escaped here.
        probabilities: (P, T) in 0..1; nan for cells that stay empty.
        places: P names of the rows.
        tokens: T tokens below the columns.
        details: (P, T) lines that the hover adds.
        outlined: a column that is framed.
        emphasis: columns whose labels are bold.

    Raises:
        ValueError: shapes that do not fit each other, probabilities outside 0..1, a column that does not
            exist, and an unknown theme.

    Example:
        >>> figure = layer_grid([["가"], ["각"]], np.array([[0.5], [0.75]]), ["input", "layer 1"], ["각"])
        >>> figure.data[0].z.tolist()
        [[0.5], [0.75]]
    """
    values = _checked(texts, probabilities, places, tokens, details)
    if strange := [
        n for n in (*emphasis, *([] if outlined is None else [outlined])) if not 0 <= n < len(tokens)
    ]:
        raise ValueError(f"columns should lie in 0..{len(tokens) - 1}, received {strange}")
    captions = Captions(title, (place_title, token_title), theme=theme)
    layout = _grid_layout(places, tokens, outlined, emphasis, captions)
    if not values.size:
        return {"data": [], "layout": layout}
    shown = [
        ["" if np.isnan(value) else cell_label(text) for text, value in zip(*row, strict=True)]
        for row in zip(texts, values, strict=True)
    ]
    whole = [[template_text(visible_token(text)) for text in row] for row in texts]
    more = [[template_text(each) for each in row] for row in details] if details else whole
    cells = _grid_cells(values, (0, 1), palette(theme).sequential, probability_title, layout) | {
        "text": shown,
        "hovertext": whole,
        "texttemplate": "%{text}",
        "textfont": {"size": _TYPE if len(tokens) <= _MANY else _SMALL_TYPE},
        "customdata": more,
        "hovertemplate": f"{_grid_hover(place_title, token_title)}"
        f"<b>%{{hovertext}}</b> · {template_text(probability_title)}: <b>%{{z:.3f}}</b><br>"
        "%{customdata}<extra></extra>",
    }
    return {"data": [cells], "layout": layout}


def _checked(
    texts: Sequence[Sequence[str]],
    probabilities: ArrayLike,
    places: Sequence[str],
    tokens: Sequence[str],
    details: Sequence[Sequence[str]] | None,
) -> np.ndarray:
    values = np.asarray(probabilities, np.float32)
    expected = len(places), len(tokens)
    if values.size == 0 and 0 in expected:
        values = np.zeros(expected, np.float32)
    shapes = [(len(each), *{len(row) for row in each}) for each in (texts, details) if each]
    if values.shape != expected or any(shape != expected for shape in shapes):
        raise ValueError(
            f"texts and probabilities should be (P, T) = {expected}, received {values.shape}, {shapes}"
        )
    if (values < 0).any() or (values > 1 + 1e-4).any():
        raise ValueError(
            f"probabilities should lie in 0..1, received {np.nanmin(values)} to {np.nanmax(values)}"
        )
    return values


def _grid_cells(
    values: np.ndarray, limits: tuple[float, float], colours: tuple[str, ...], value_title: str, layout: dict
) -> dict:
    """The cells of a grid with this ``layout``: (P, T) values as colours between ``limits``, nan as none."""
    return {
        "type": "heatmap",
        "z": values,
        "x0": 1,
        "y0": 0,
        "zmin": limits[0],
        "zmax": limits[1],
        "colorscale": colour_scale(colours),
        # From the edge of the picture: beside long names of rows a phone has no room for it above the cells.
        "colorbar": weight_scale(value_title, layout["height"])
        | {"nticks": 3, "tickformat": "~g", "ticklabeloverflow": "allow"}
        | {"xref": "container", "x": 0.06, "len": _BAR},
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
    }


def _grid_hover(place_title: str, token_title: str) -> str:
    """How the hover of a cell begins: where it is."""
    return f"{template_text(place_title)}: %{{y}}<br>{template_text(token_title)} %{{x:d}}<br>"


def _grid_layout(
    places: Sequence[str],
    tokens: Sequence[str],
    outlined: int | None,
    emphasis: Collection[int],
    captions: Captions,
) -> dict:
    """The layout of a grid of places by tokens: names at the left, tokens below. The captions have titles of
    the places and the tokens.
    """
    theme = captions.theme
    rows, columns = max(len(places), 1), max(len(tokens), 1)
    ticks = column_ticks(tokens, cell_size(columns))
    foot = _FOOT + ticks.height
    height = TITLE_HEIGHT + _SCALE + rows * _ROW + foot
    least = TITLE_HEIGHT + _SCALE + rows * _LEAST_ROW + foot
    _, token_title = captions.titles
    widest = max((width_in_em(place) for place in places), default=1.0)
    frame = rectangle(
        ((outlined or 0) + 0.5, (outlined or 0) + 1.5), (-0.5, rows - 0.5), palette(theme).accent, 2
    )
    names = map(plain_text, places)
    return base_layout(theme, captions.title, height) | {
        "xaxis": ticks.axis(
            theme, token_title, ticks.below(emphasis), 1, range=[0.5, columns + 0.5], fixedrange=True
        ),
        "yaxis": named_axis(theme, "", names, range=[rows - 0.5, -0.5], fixedrange=True),
        "shapes": [] if outlined is None else [frame],
        "margin": {"t": TITLE_HEIGHT + _SCALE, "l": 16 + _EM * widest, "r": 12, "b": foot},
        "meta": {"fit": "fill", "least": least, "tokens": columns},
    }


_HEIGHT, _LEAST, _CURVE_FOOT, _COUNT_FOOT = 380, 220, 110, 60  # pixels
_MOST_NAMED = 20  # places
_LEAST_STEP = 24  # pixels from one place to the next, on a phone


@as_figure
def layer_curve(
    values: Sequence[float],
    places: Sequence[str],
    *,
    details: Sequence[str] = (),
    marked: int | None = None,
    beside: tuple[int, float, str] | None = None,
    captions: Captions = PLAIN,
) -> Specification:
    """A point for each of P places, joined by a line, with a line at 0 where the sign changes.

    Args:
        values: P numbers of any sign.
        places: their P names, below the points.
        details: P texts that the hover adds.
        marked: a place with a vertical line, such as the one from which on nothing changes any more.
        beside: a place, a value and a name: a point that is not on the line.
        captions: the title of the values, and with a second one that of the places.

    Raises:
        ValueError: lengths that differ, values that are not finite, a place that does not exist, and an
            unknown theme.

    Example:
        >>> figure = layer_curve([-2.0, 3.5], ["input", "layer 1"])
        >>> figure.data[0].y.tolist()
        [-2.0, 3.5]
    """
    points = np.asarray(values, np.float32)
    if points.shape != (len(places),) or (details and len(details) != len(places)):
        raise ValueError(
            f"there should be {len(places)} values and details, received {points.shape}, {len(details)}"
        )
    if not np.isfinite(points).all():
        raise ValueError("values should be finite")
    if marked is not None and not 0 <= marked < len(places):
        raise ValueError(f"marked should lie in 0..{len(places) - 1}, received {marked}")
    (value_title, *place_title), theme = captions.or_else(titles=("Nats",)).titles, captions.theme
    layout = _layout(places, marked, replace(captions, titles=(value_title, *(place_title or [""]))))
    if not len(places):
        return {"data": [], "layout": layout}
    line = {
        "type": "scatter",
        "x": list(range(len(places))),
        "y": points,
        "mode": "lines+markers",
        "line": {"color": palette(theme).qualitative[0], "width": 2.5},
        "marker": {"size": 8},
        "text": [template_text(place) for place in places],
        "customdata": [template_text(each) for each in details] or [""] * len(places),
        "hovertemplate": f"%{{text}}<br>{template_text(value_title)}: <b>%{{y:+.2f}}</b><br>"
        "%{customdata}<extra></extra>",
        "showlegend": False,
    }
    if beside is None:
        return {"data": [line], "layout": layout}
    place, value, name = beside
    point = {
        "type": "scatter",
        "x": [place],
        "y": [value],
        "mode": "markers+text",
        "marker": {"size": 14, "symbol": "diamond", "color": palette(theme).accent},
        "text": [plain_text(name)],
        "textposition": "top center",
        "hovertemplate": f"{template_text(name)}<br>"
        f"{template_text(value_title)}: <b>%{{y:+.2f}}</b><extra></extra>",
        "showlegend": False,
    }
    return {"data": [line, point], "layout": layout}


def _layout(places: Sequence[str], marked: int | None, captions: Captions) -> dict:
    """The captions have titles of the values and of the places. Too many places have a name each few."""
    (value_title, place_title), theme = captions.titles, captions.theme
    colours, every = palette(theme), -(-len(places) // _MOST_NAMED)
    named = places[every - 1 :: every] if every > 1 else places
    shapes = [
        {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": 0,
            "y1": 0,
            "line": {"color": colours.quiet_text, "width": 1},
        }
    ]
    if marked is not None:
        accent = {"color": colours.accent, "width": 2, "dash": "dot"}
        shapes.append(upright_line(marked, accent))
    return base_layout(theme, captions.title, _HEIGHT) | {
        "xaxis": named_axis(
            theme,
            place_title,
            map(plain_text, named),
            range(max(every - 1, 0), len(places), max(every, 1)),
            range=[-0.4, max(len(places), 1) - 0.6],
            tickangle=0 if place_title else -40,
            fixedrange=True,
        ),
        "yaxis": base_axis(theme, value_title, fixedrange=True, automargin=True),
        "shapes": shapes,
        "margin": {"t": TITLE_HEIGHT, "r": 16}
        | ({"l": 64, "b": _COUNT_FOOT} if place_title else _room_for_slanted(named)),
        "meta": {"fit": "fill", "least": _LEAST},
    }


def _room_for_slanted(names: Sequence[str]) -> dict[str, float]:
    """The margins in which names fit that end below their places and lead there from the lower left."""
    lengths = [_EM * width_in_em(name) for name in names]
    left = [0.77 * length - (turn + 0.4) * _LEAST_STEP for turn, length in enumerate(lengths)]  # cos 40°
    return {
        "l": max([64.0, *left]),
        "b": max([_CURVE_FOOT, *(24 + 0.64 * length for length in lengths)]),  # sin 40°
    }


@as_figure
def place_map(
    values: np.ndarray,
    places: Sequence[str],
    tokens: Sequence[str],
    *,
    details: np.ndarray | None = None,
    emphasis: Collection[int] = (),
    title: str = "",
    place_title: str = "Place",
    token_title: str = "Token",
    value_title: str = "Share",
    detail_title: str = "Nats",
    most: float = 1.0,
    theme: str = "light",
) -> Specification:
    """P rows, from the beginning of the network down to its end, and T columns; token t lies at x = t + 1.
    The colours run from ``-most`` to ``most``.

    Args:
        values: (P, T) of any sign, such as the share of a score; nan for cells that stay empty.
        details: (P, T) numbers that the hover adds.
        emphasis: columns whose labels are bold.

    Raises:
        ValueError: shapes that do not fit each other, and an unknown theme.

    Example:
        >>> figure = place_map(np.array([[0.5, -0.25]]), ["layer 1"], ["가", "각"])
        >>> figure.data[0].z.tolist()
        [[0.5, -0.25]]
    """
    cells = np.asarray(values, np.float32)
    if not cells.size:
        cells = cells.reshape(len(places), len(tokens))
    shapes = [np.shape(each) for each in (cells, details) if each is not None]
    if any(shape != (len(places), len(tokens)) for shape in shapes):
        raise ValueError(f"values and details should be {(len(places), len(tokens))}, received {shapes}")
    captions = Captions(title, (place_title, token_title), theme=theme)
    layout = _grid_layout(places, tokens, None, emphasis, captions)
    if not cells.size:
        return {"data": [], "layout": layout}
    hover = f"{_grid_hover(place_title, token_title)}{template_text(value_title)}: <b>%{{z:.2f}}</b>"
    map_ = _grid_cells(cells, (-most, most), palette(theme).diverging, value_title, layout)
    if details is not None:
        map_["customdata"] = np.asarray(details, np.float32)
        hover += f"<br>{template_text(detail_title)}: %{{customdata:.2f}}"
    map_["hovertemplate"] = f"{hover}<extra></extra>"
    return {"data": [map_], "layout": layout}
