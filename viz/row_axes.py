"""The axes of charts whose rows have names: values across with a line at 0, and the rows from top to bottom."""

from collections.abc import Sequence
from typing import NamedTuple

from viz.figure import TITLE_HEIGHT, base_axis, base_layout, figure_title
from viz.labels import plain_text, width_in_em
from viz.theme import palette

_EM = 13  # pixels, of the names


class RowSizes(NamedTuple):
    """In pixels."""

    row: int
    least: int  # of a row where the window is low
    foot: int  # below the rows


def row_layout(
    names: Sequence[str],
    span: tuple[float, float],
    texts: tuple[str, str],
    sizes: RowSizes,
    theme: str,
    ticks: Sequence[str] | None = None,
) -> dict:
    """The layout. ``span``: of the values. ``texts``: the title of the figure and of the values. ``ticks``: the names as HTML, if they
    are to look different from ``names``.
    """
    title, value_title = texts
    height = TITLE_HEIGHT + len(names) * sizes.row + sizes.foot
    widest = max(map(width_in_em, names), default=1.0)
    return base_layout(theme) | {
        "title": figure_title(plain_text(title), height),
        "xaxis": base_axis(theme, plain_text(value_title))
        | {
            "range": list(span),
            "zeroline": True,
            "zerolinecolor": palette(theme).quiet_text,
            "fixedrange": True,
        },
        "yaxis": base_axis(theme, "")
        | {
            "range": [len(names) - 0.4, -0.6],
            "tickmode": "array",
            "tickvals": list(range(len(names))),
            "ticktext": list(map(plain_text, names)) if ticks is None else list(ticks),
            "showgrid": False,
            "fixedrange": True,
        },
        "height": height,
        "margin": {"t": TITLE_HEIGHT, "l": 20 + _EM * widest, "r": 12, "b": sizes.foot},
        "meta": {"fit": "fill", "least": TITLE_HEIGHT + len(names) * sizes.least + sizes.foot, "across": 1},
    }
