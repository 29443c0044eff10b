"""One attention map as a heatmap: who asks in the rows, what is looked at in the columns."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.attention_info import AttentionInfo, attention_info
from viz.attention_layout import attention_layout
from viz.cell_overlay import HOVER_AXES, MOST_CELLS_TO_CLICK, cell_markers, legend_entry
from viz.hidden import Hidden
from viz.labels import plain_text, template_text
from viz.theme import palette, weight_scale
from viz.weight_colours import WeightColours, weight_colours


def attention_heatmap(
    weights: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    title: str = "",
    query_title: str = "Query",
    key_title: str = "Key",
    hover: tuple[str, str, str] = ("Query", "Key", "Weight"),
    masked: np.ndarray | None = None,
    masked_title: str = "masked",
    faint_title: str = "almost 0",
    selected_title: str = "selected",
    emphasis_rows: Sequence[int] = (),
    selected: tuple[int, int] | None = None,
    first: tuple[int, int] = (0, 0),
    difference: bool = False,
    logarithmic: bool = False,
    colour_max: float | None = 1.0,
    theme: str = "light",
) -> go.Figure:
    """Heatmap of one attention map; row 0 is at the top, and the cell (q, k) lies at x = k, y = q.

    The numbers reach the figure as they are, whatever the scale. Up to MOST_CELLS_TO_CLICK cells, an
    invisible marker on each makes it selectable: a selected point's ``(y, x)`` is its ``(q, k)``.

    Args:
        weights: (Q, K) floats in 0..1; in -1..1 where ``difference``.
        query_tokens, key_tokens: Q and K tokens as they were typed; they are escaped here.
        hover: names of query, key and weight in the hover, in the reader's language. The number beside a
            token is its position, counted from 0 as in the positional encoding.
        masked: (Q, K) bool, True where the mask forbids looking. Such cells hold exactly 0 and are hatched,
            so that they differ from weights that are almost 0, and these from those that are merely small.
        emphasis_rows: rows whose labels are bold and coloured, such as the changed characters.
        selected: a cell (q, k) whose row and column are framed.
        first: the position (q, k) of the first cell, where tokens before it are left out. All positions
            above, those in the hover and those on the axes count from there.
        difference: whether ``weights`` are what is left after something was subtracted: then two colours
            part at 0.
        logarithmic: whether each factor of ten has the same part of the colours, down to FAINT; what is
            smaller looks like almost 0.
        colour_max: the weight of the strongest colour; None takes the largest in the map.

    Raises ValueError for shapes that do not fit each other, weights outside their range, a masked cell that
    holds weight, a row or cell that does not exist, a colour_max that is not positive, and an unknown theme.
    """
    info = attention_info(
        weights, query_tokens, key_tokens, masked, emphasis_rows, selected, first, difference, colour_max
    )
    colours = weight_colours(info.colour_max, theme, difference=difference, logarithmic=logarithmic)
    figure = go.Figure(layout=attention_layout(info, title, query_title, key_title, theme))
    if not info.weights.size:
        return figure
    figure.add_traces(_cells(info, colours, hover, masked_title, theme))
    figure.add_trace(legend_entry(faint_title, colours.ground, palette(theme).hatch))
    if info.selected:
        accent = palette(theme).accent
        figure.add_trace(legend_entry(selected_title, accent, accent, "square-open"))
    bar = weight_scale(plain_text(hover[2]), info.height)
    if logarithmic:
        figure.add_trace(colours.bar(bar))
    else:
        figure.data[0].colorbar = bar | {"tickformat": "~g", "nticks": 5}
    return figure


def _cells(
    info: AttentionInfo, colours: WeightColours, hover: tuple[str, str, str], masked_title: str, theme: str
) -> list[go.Heatmap | go.Scatter]:
    """The cells, the hatching over the masked ones, and the markers that answer to the pointer."""
    clickable = info.weights.size <= MOST_CELLS_TO_CLICK
    traces = [_heatmap(info, colours, "skip" if clickable else _template(info, hover, "z"))]
    if info.masked.any():
        (hatching,) = Hidden(info.masked, masked_name=masked_title).areas(info.weights.shape, theme)
        traces.append(_moved(hatching, info.first))
    if clickable:
        template = _template(info, hover, "customdata")
        traces.append(cell_markers(info.weights, ~info.masked, info.first, template))
        if info.masked.any():
            key = "<b>%{x}</b>"
            noted = template.replace(key, f"{key} ({template_text(masked_title)})")
            traces.append(cell_markers(info.weights, info.masked, info.first, noted))
    return traces


def _moved(area: go.Scatter, first: tuple[int, int]) -> go.Scatter:
    for name, start in zip(("y", "x"), first, strict=True):
        area[name] = [None if place is None else place + start for place in area[name]]
    return area.update(HOVER_AXES)


def _template(info: AttentionInfo, hover: tuple[str, str, str], value: str) -> str:
    """The hover, with the number in ``value``; the tokens come from the ticks."""
    query_name, key_name, weight_name = (template_text(name) for name in hover)
    digits = "+.3f" if info.difference else ".3f"
    return (
        f"{query_name} %{{y:d}}: <b>%{{y}}</b><br>{key_name} %{{x:d}}: <b>%{{x}}</b>"
        f"<br>{weight_name}: <b>%{{{value}:{digits}}}</b><extra></extra>"
    )


def _heatmap(info: AttentionInfo, colours: WeightColours, hover: str) -> go.Heatmap:
    return go.Heatmap(
        z=info.weights,
        x0=info.first[1],
        y0=info.first[0],
        zmin=colours.lowest,
        zmax=colours.highest,
        colorscale=colours.scale,
        xgap=int(info.cell.square),
        ygap=int(info.cell.square),
        showscale=not colours.logarithmic,
        **({"hoverinfo": "skip"} if hover == "skip" else {"hovertemplate": hover}),
        **HOVER_AXES,
    )
