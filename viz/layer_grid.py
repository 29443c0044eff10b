"""A grid of what is read at each place of a network, step by step: the cells have texts, their colour is the probability."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike

from viz.figure import (
    TITLE_HEIGHT,
    Specification,
    as_figure,
    base_axis,
    base_layout,
    figure_title,
    weight_scale,
)
from viz.labels import cell_label, plain_text, template_text, visible_token, width_in_em
from viz.theme import colour_scale, palette
from viz.token_axis import cell_size, column_ticks

_ROW, _LEAST_ROW, _SCALE, _FOOT, _EM = 28, 17, 36, 40, 13  # pixels; an em is that of the names
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
        probabilities: (P, T) in 0..1; nan where nothing can be said, and such cells stay empty.
        places: P names of the rows. ``tokens``: T tokens below the columns.
        details: (P, T) lines that the hover adds.
        outlined: a column that is framed. ``emphasis``: columns whose labels are bold.

    Raises ValueError for shapes that do not fit each other, probabilities outside 0..1, a column that does not exist, and
    an unknown theme.

    >>> figure = layer_grid([["가"], ["각"]], np.array([[0.5], [0.75]]), ["input", "layer 1"], ["각"])
    >>> figure.data[0].z.tolist()
    [[0.5], [0.75]]
    """
    values = _checked(texts, probabilities, places, tokens, details)
    if strange := [
        n for n in (*emphasis, *([] if outlined is None else [outlined])) if not 0 <= n < len(tokens)
    ]:
        raise ValueError(f"columns should lie in 0..{len(tokens) - 1}, received {strange}")
    layout = grid_layout(places, tokens, outlined, emphasis, (title, place_title, token_title), theme)
    if not values.size:
        return {"data": [], "layout": layout}
    shown = [
        ["" if np.isnan(value) else cell_label(text) for text, value in zip(*row, strict=True)]
        for row in zip(texts, values, strict=True)
    ]
    whole = [[template_text(visible_token(text)) for text in row] for row in texts]
    more = [[template_text(each) for each in row] for row in details] if details else whole
    cells = grid_cells(values, (0, 1), palette(theme).sequential, probability_title, layout) | {
        "text": shown,
        "hovertext": whole,
        "texttemplate": "%{text}",
        "textfont": {"size": _TYPE if len(tokens) <= _MANY else _SMALL_TYPE},
        "customdata": more,
        "hovertemplate": f"{grid_hover(place_title, token_title)}"
        f"<b>%{{hovertext}}</b> · {template_text(probability_title)}: <b>%{{z:.3f}}</b><br>%{{customdata}}<extra></extra>",
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


def grid_cells(
    values: np.ndarray, limits: tuple[float, float], colours: tuple[str, ...], value_title: str, layout: dict
) -> dict:
    """The cells of a grid with this ``layout``: (P, T) values as colours between ``limits``; nan stays empty."""
    return {
        "type": "heatmap",
        "z": values,
        "x0": 1,
        "y0": 0,
        "zmin": limits[0],
        "zmax": limits[1],
        "colorscale": colour_scale(colours),
        "colorbar": weight_scale(plain_text(value_title), layout["height"])
        | {"nticks": 3, "tickformat": "~g"},
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
    }


def grid_hover(place_title: str, token_title: str) -> str:
    """How the hover of a cell begins: where it is."""
    return f"{template_text(place_title)}: %{{y}}<br>{template_text(token_title)} %{{x:d}}<br>"


def grid_layout(
    places: Sequence[str],
    tokens: Sequence[str],
    outlined: int | None,
    emphasis: Collection[int],
    titles: tuple[str, str, str],
    theme: str,
) -> dict:
    """The layout of a grid of places by tokens: names at the left, tokens below. ``titles``: of the figure, the places, the tokens."""
    rows, columns = max(len(places), 1), max(len(tokens), 1)
    ticks = column_ticks(tokens, cell_size(columns))
    foot = _FOOT + ticks.height
    height = TITLE_HEIGHT + _SCALE + rows * _ROW + foot
    least = TITLE_HEIGHT + _SCALE + rows * _LEAST_ROW + foot
    title, _, token_title = titles
    widest = max((width_in_em(place) for place in places), default=1.0)
    frame = {
        "type": "rect",
        "x0": (outlined or 0) + 0.5,
        "x1": (outlined or 0) + 1.5,
        "y0": -0.5,
        "y1": rows - 0.5,
        "line": {"color": palette(theme).accent, "width": 2},
    }
    fixed = {"tickmode": "array", "showgrid": False, "zeroline": False, "fixedrange": True}
    return base_layout(theme) | {
        "title": figure_title(plain_text(title), height),
        "xaxis": base_axis(theme, plain_text(token_title))
        | fixed
        | {
            "range": [0.5, columns + 0.5],
            "tickvals": [position + 1 for position in ticks.positions],
            "ticktext": ticks.below(emphasis),
            "tickangle": ticks.angle,
            "tickfont": {"size": cell_size(columns).font},
        },
        "yaxis": base_axis(theme, "")
        | fixed
        | {
            "range": [rows - 0.5, -0.5],
            "tickvals": list(range(len(places))),
            "ticktext": [plain_text(place) for place in places],
        },
        "shapes": [] if outlined is None else [frame],
        "height": height,
        "margin": {"t": TITLE_HEIGHT + _SCALE, "l": 16 + _EM * widest, "r": 12, "b": foot},
        "meta": {"fit": "fill", "least": least, "tokens": columns},
    }
