"""A map of places of a network by tokens: how much an intervention at each of them changes, with a sign."""

from collections.abc import Collection, Sequence

import numpy as np

from viz.figure import Specification, as_figure
from viz.labels import template_text
from viz.layer_grid import grid_cells, grid_hover, grid_layout
from viz.theme import palette


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
    hover = f"{grid_hover(place_title, token_title)}{template_text(value_title)}: <b>%{{z:.2f}}</b>"
    map_ = grid_cells(cells, (-1, 1), palette(theme).diverging, value_title, layout)
    if details is not None:
        map_["customdata"] = np.asarray(details, np.float32)
        hover += f"<br>{template_text(detail_title)}: %{{customdata:.2f}}"
    map_["hovertemplate"] = f"{hover}<extra></extra>"
    return {"data": [map_], "layout": layout}
