"""A curve with one number after each part of a network, from its beginning to its end."""

from collections.abc import Sequence

import numpy as np

from viz.figure import TITLE_HEIGHT, Specification, as_figure, base_axis, base_layout, figure_title
from viz.labels import plain_text, template_text
from viz.theme import palette

_HEIGHT, _LEAST, _FOOT = 380, 220, 110  # pixels


@as_figure
def layer_curve(
    values: Sequence[float],
    places: Sequence[str],
    *,
    details: Sequence[str] = (),
    marked: int | None = None,
    title: str = "",
    value_title: str = "Nats",
    theme: str = "light",
) -> Specification:
    """A point for each of P places, joined by a line, with a line at 0 where the sign changes.

    Args:
        values: P numbers of any sign. ``places``: their P names, below the points.
        details: P texts that the hover adds.
        marked: a place with a vertical line, such as the one from which on nothing changes any more.

    Raises ValueError for lengths that differ, values that are not finite, a place that does not exist, and an unknown theme.

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
    layout = _layout(places, marked, title, value_title, theme)
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
        "hovertemplate": f"%{{text}}<br>{template_text(value_title)}: <b>%{{y:+.2f}}</b><br>%{{customdata}}<extra></extra>",
        "showlegend": False,
    }
    return {"data": [line], "layout": layout}


def _layout(places: Sequence[str], marked: int | None, title: str, value_title: str, theme: str) -> dict:
    colours = palette(theme)
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
        shapes.append(
            {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": marked, "x1": marked, "line": accent}
        )
    return base_layout(theme) | {
        "title": figure_title(plain_text(title), _HEIGHT),
        "xaxis": base_axis(theme, "")
        | {
            "range": [-0.4, max(len(places), 1) - 0.6],
            "tickmode": "array",
            "tickvals": list(range(len(places))),
            "ticktext": [plain_text(place) for place in places],
            "tickangle": -40,
            "showgrid": False,
            "fixedrange": True,
        },
        "yaxis": base_axis(theme, plain_text(value_title)) | {"fixedrange": True, "automargin": True},
        "shapes": shapes,
        "height": _HEIGHT,
        "margin": {"t": TITLE_HEIGHT, "l": 64, "r": 16, "b": _FOOT},
        "meta": {"fit": "fill", "least": _LEAST},
    }
