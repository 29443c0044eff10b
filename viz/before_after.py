"""Two points for each row: a number as it was, and what it became when something was changed."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from viz.figure import TITLE_HEIGHT, Specification, as_figure
from viz.labels import plain_text, template_text
from viz.row_axes import RowSizes, row_layout
from viz.theme import palette

_SIZES = RowSizes(row=34, least=20, foot=70)


class Measured(NamedTuple):
    """One row. ``custom`` is what the page gets when the row is chosen, such as a head.

    >>> Measured("without head 1", 8.5, 4.0).after
    4.0
    """

    name: str
    before: float
    after: float
    custom: tuple | None = None


@as_figure
def before_after(
    rows: Sequence[Measured],
    *,
    before_name: str = "Observed",
    after_name: str = "Intervened",
    title: str = "",
    value_title: str = "Nats",
    theme: str = "light",
) -> Specification:
    """A line for each row from a hollow point, ``before``, to a filled one, ``after``. A line stands at 0, where the sign changes.

    Raises ValueError for values that are not finite, and for an unknown theme.

    >>> figure = before_after([Measured("without head 1", 8.5, 4.0)])
    >>> figure.data[2].x.tolist()
    [4.0]
    """
    values = np.array([[row.before, row.after] for row in rows], float).reshape(len(rows), 2)
    if not np.isfinite(values).all():
        raise ValueError(f"values should be finite, received {values[~np.isfinite(values)][:3]}")
    layout = _layout(rows, values, title, value_title, theme)
    if not rows:
        return {"data": [], "layout": layout}
    colours, places = palette(theme), list(range(len(rows)))
    lines = {
        "type": "scatter",
        "x": [each for row in values.tolist() for each in (*row, None)],
        "y": [each for place in places for each in (place, place, None)],
        "mode": "lines",
        "line": {"color": colours.quiet_text, "width": 2},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    shared = {
        "type": "scatter",
        "y": places,
        "mode": "markers",
        "text": [template_text(row.name) for row in rows],
        "customdata": [list(row.custom or ()) for row in rows],
        "showlegend": True,
    }
    open_points = {"symbol": "circle-open", "size": 11, "color": colours.text, "line": {"width": 2}}
    filled = {"symbol": "circle", "size": 12, "color": colours.qualitative[1]}
    hover = f"%{{text}}<br>%{{fullData.name}}: <b>%{{x:.2f}}</b> {template_text(value_title)}<extra></extra>"
    points = [
        shared | {"x": values[:, column], "name": plain_text(name), "marker": marker, "hovertemplate": hover}
        for column, name, marker in ((0, before_name, open_points), (1, after_name, filled))
    ]
    return {"data": [lines, *points], "layout": layout}


def _layout(rows: Sequence[Measured], values: np.ndarray, title: str, value_title: str, theme: str) -> dict:
    lowest, highest = min([0.0, *values.ravel()]), max([0.0, *values.ravel()])
    room = max(highest - lowest, 1e-6) * 0.06
    span = lowest - room, highest + room
    layout = row_layout([row.name for row in rows], span, (title, value_title), _SIZES, theme)
    margin = layout["margin"] | {"t": TITLE_HEIGHT + 8, "r": 16, "b": _SIZES.foot - 20}
    legend = {
        "orientation": "h",
        "x": 0,
        "y": 1,
        "yanchor": "bottom",
        "itemclick": False,
        "itemdoubleclick": False,
    }
    return layout | {"margin": margin, "legend": legend}
