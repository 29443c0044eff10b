"""A map of places of a network by tokens: how much an intervention at each of them changes, with a sign."""

from collections.abc import Collection, Sequence

import numpy as np

from viz.labels import plain_text, template_text
from viz.layer_grid import grid_layout
from viz.specification import Specification, as_figure
from viz.theme import colour_scale, palette, weight_scale


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
    theme: str = "light",
) -> Specification:
    """P rows, from the beginning of the network down to its end, and T columns; token t lies at x = t + 1. The colours run from -1 to 1.

    Args:
        values: (P, T) of any sign, such as the share of a score; nan where nothing can be said, and such cells stay empty.
        details: (P, T) numbers that the hover adds.
        emphasis: columns whose labels are bold.

    Raises ValueError for shapes that do not fit each other, and an unknown theme.

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
    layout = grid_layout(places, tokens, None, emphasis, (title, place_title, token_title), theme)
    if not cells.size:
        return {"data": [], "layout": layout}
    more = cells if details is None else np.asarray(details, np.float32)
    map_ = {
        "type": "heatmap",
        "z": cells,
        "x0": 1,
        "y0": 0,
        "customdata": more,
        "zmin": -1,
        "zmax": 1,
        "colorscale": colour_scale(palette(theme).diverging),
        "colorbar": weight_scale(plain_text(value_title), layout["height"])
        | {"nticks": 3, "tickformat": "~g"},
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
        "hovertemplate": f"{template_text(place_title)}: %{{y}}<br>{template_text(token_title)} %{{x:d}}<br>"
        f"{template_text(value_title)}: <b>%{{z:.2f}}</b><br>{template_text(detail_title)}: %{{customdata:.2f}}<extra></extra>",
    }
    return {"data": [map_], "layout": layout}
