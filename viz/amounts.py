"""Bar charts of signed amounts: waterfall, and before against after an intervention."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from viz.axes import RowSizes, row_layout
from viz.figure import PLAIN, TITLE_HEIGHT, Captions, Specification, as_figure, legend_across
from viz.labels import decimal, plain_text, template_text
from viz.theme import palette, without_points

_SIZES = RowSizes(row=26, least=15, foot=44)
_TYPE, _DIGIT, _BESIDE = 13, 8, 8  # pixels: a bar's number, one of its digits, the space beside the number


class Amount(NamedTuple):
    """One bar. ``custom`` is sent to the page when the bar is chosen, such as a head.

    Example:
        >>> Amount("head 1", 5.5).value
        5.5
    """

    name: str
    value: float
    custom: tuple | None = None
    chosen: bool = False  # whether its name is emphasised


@as_figure
def waterfall(
    amounts: Sequence[Amount],
    *,
    captions: Captions = PLAIN,
) -> Specification:
    """A bar for each amount, from top to bottom, which begins where the one before it ends; the last one is
    their sum.

    Amounts above 0 are filled bars, those below 0 hollow ones, so that they differ without colour.
    ``customdata`` of each bar is its ``custom``, so that a page can react to a click or to the arrow keys.

    Args:
        captions: the title of the values; names of the sum, and for a legend of the amounts above 0 and of
            those below.

    Raises:
        ValueError: values that are not finite, and for an unknown theme.

    Example:
        >>> figure = waterfall([Amount("head 1", 5.5), Amount("head 2", -1.0)])
        >>> figure.data[0].x  # the last bar is the sum
        (5.5, -1.0, 4.5)
    """
    values = np.array([amount.value for amount in amounts], float)
    if not np.isfinite(values).all():
        raise ValueError(f"values should be finite, received {values[~np.isfinite(values)][:3]}")
    captions = captions.or_else(("Nats",), names=("Sum",))
    (value_title,), (total, *sides), theme = captions.titles, captions.names, captions.theme
    ends = np.cumsum(values)
    rows = [*amounts, Amount(total, float(values.sum()))]
    starts = [*(ends - values), 0.0]
    layout = _layout(rows, starts, captions)
    if not amounts:
        return {"data": [], "layout": layout}
    data = [_bars(rows, starts, value_title, theme), _places(rows, starts, value_title)]
    numbers = [_numbers_below(rows, starts)] if any(row.value < 0 for row in rows) else []
    return {"data": [*data, *_legend(sides, theme), *numbers], "layout": layout}


def _legend(sides: Sequence[str], theme: str) -> list[dict]:
    """Entries of the legend: a filled square for amounts above 0, a hollow one for those below."""
    against, favours = palette(theme).diverging[1], palette(theme).diverging[-2]
    markers = {"symbol": "square", "color": favours}, {"symbol": "square-open", "color": against}
    return [
        without_points(marker | {"size": 11, "line": {"width": 1.5}}) | {"name": plain_text(name)}
        for marker, name in zip(markers, sides, strict=False)
    ]


def _bars(rows: Sequence[Amount], starts: Sequence[float], value_title: str, theme: str) -> dict:
    colours = palette(theme)
    # As in maps of signed amounts: red speaks for what was written, blue for the other.
    against, favours = colours.diverging[1], colours.diverging[-2]
    filled = [favours if row.value >= 0 else against for row in rows[:-1]] + [colours.text]
    return {
        "type": "bar",
        "orientation": "h",
        "y": list(range(len(rows))),
        "x": [row.value for row in rows],
        "base": list(starts),
        "width": 0.72,
        "marker": {
            "color": [
                colour if row.value >= 0 else "rgba(0,0,0,0)"
                for row, colour in zip(rows, filled, strict=True)
            ],
            "line": {"color": filled, "width": 1.5},
        },
        "text": [decimal(row.value, signed=True) for row in rows],
        "textposition": ["none" if row.value < 0 else "outside" for row in rows],
        "textangle": 0,
        "cliponaxis": False,
        "customdata": [None if row.custom is None else list(row.custom) for row in rows],
        "hovertext": [template_text(row.name) for row in rows],
        "hovertemplate": f"%{{hovertext}}<br>{template_text(value_title)}: <b>%{{text}}</b><extra></extra>",
        "showlegend": False,
    }


def _numbers_below(rows: Sequence[Amount], starts: Sequence[float]) -> dict:
    """The numbers of amounts below 0, at the right of their bars, too: at the left they would reach into the
    names of the rows where the picture is narrow.
    """
    found = [number for number, row in enumerate(rows) if row.value < 0]
    return {
        "type": "scatter",
        "x": [starts[number] for number in found],
        "y": found,
        "text": [decimal(rows[number].value, signed=True) for number in found],
        "mode": "text",
        "textposition": "middle right",
        "textfont": {"size": _TYPE},
        "cliponaxis": False,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _places(rows: Sequence[Amount], starts: Sequence[float], value_title: str) -> dict:
    """An invisible marker on each bar that can be chosen: the arrow keys go from one to the next."""
    found = [number for number, row in enumerate(rows) if row.custom is not None]
    return {
        "type": "scatter",
        "x": [starts[number] + rows[number].value / 2 for number in found],
        "y": found,
        "customdata": [list(rows[number].custom or ()) for number in found],
        "text": [f"{template_text(rows[n].name)}<br>{decimal(rows[n].value, signed=True)}" for n in found],
        "mode": "markers",
        "marker": {"size": 1, "opacity": 0},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _layout(rows: Sequence[Amount], starts: Sequence[float], captions: Captions) -> dict:
    ends = [start + row.value for start, row in zip(starts, rows, strict=True)]
    lowest, highest = min([0.0, *starts, *ends]), max([0.0, *starts, *ends])
    whole = max(highest - lowest, 1e-6)
    span = lowest - 0.02 * whole * (lowest < 0), highest + 0.02 * whole
    accent = palette(captions.theme).accent
    names = [row.name for row in rows]
    ticks = [
        f'<b><span style="color:{accent}">{plain_text(row.name)}</span></b>'
        if row.chosen
        else plain_text(row.name)
        for row in rows
    ]
    layout = row_layout(names, span, _SIZES, captions, ticks)
    # The numbers have their room in the margin: a share of the axis would be too narrow for them on a phone.
    beside = _BESIDE + _DIGIT * max(len(decimal(row.value, signed=True)) for row in rows)
    margin = layout["margin"] | {"r": beside}
    meta = layout["meta"] | {"half": [whole / 40, 0.5]}
    return layout | {"margin": margin, "meta": meta, "legend": legend_across(1, "bottom", fixed=True)}


_PAIR_SIZES = RowSizes(row=34, least=20, foot=70)


class Measured(NamedTuple):
    """One row. ``custom`` is sent to the page when the row is chosen, such as a head.

    Example:
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
    captions: Captions = PLAIN,
) -> Specification:
    """A line for each row from a hollow point, ``before``, to a filled one, ``after``. A line marks 0, where
    the sign changes.

    Args:
        captions: the title of the values; names of the points before and after.

    Raises:
        ValueError: values that are not finite, and for an unknown theme.

    Example:
        >>> figure = before_after([Measured("without head 1", 8.5, 4.0)])
        >>> figure.data[2].x.tolist()
        [4.0]
    """
    values = np.array([[row.before, row.after] for row in rows], float).reshape(len(rows), 2)
    if not np.isfinite(values).all():
        raise ValueError(f"values should be finite, received {values[~np.isfinite(values)][:3]}")
    captions = captions.or_else(titles=("Nats",), names=("Observed", "Intervened"))
    layout = _pair_layout(rows, values, captions)
    if not rows:
        return {"data": [], "layout": layout}
    colours, places = palette(captions.theme), list(range(len(rows)))
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
    unit = template_text(captions.titles[0])
    hover = f"%{{text}}<br>%{{fullData.name}}: <b>%{{x:.2f}}</b> {unit}<extra></extra>"
    points = [
        shared | {"x": values[:, column], "name": plain_text(name), "marker": marker, "hovertemplate": hover}
        for column, (name, marker) in enumerate(zip(captions.names, (open_points, filled), strict=True))
    ]
    return {"data": [lines, *points], "layout": layout}


def _pair_layout(rows: Sequence[Measured], values: np.ndarray, captions: Captions) -> dict:
    lowest, highest = min([0.0, *values.ravel()]), max([0.0, *values.ravel()])
    room = max(highest - lowest, 1e-6) * 0.06
    span = lowest - room, highest + room
    layout = row_layout([row.name for row in rows], span, _PAIR_SIZES, captions)
    margin = layout["margin"] | {"t": TITLE_HEIGHT + 8, "r": 16, "b": _PAIR_SIZES.foot - 20}
    return layout | {"margin": margin, "legend": legend_across(1, "bottom", fixed=True)}
