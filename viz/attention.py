"""One attention map as a heatmap: who asks in the rows, what is looked at in the columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viz.attention_info import AttentionInfo, attention_info
from viz.attention_layout import attention_layout
from viz.cell_overlay import HOVER_AXES, legend_entry
from viz.figure import Specification, as_figure, weight_scale
from viz.hidden import Hidden
from viz.labels import plain_text, template_text
from viz.theme import palette
from viz.weight_colours import WeightColours, weight_colours

RING, RING_SHARE = 14, 0.7  # pixels across a ring, at most so much of its cell


@dataclass(frozen=True)
class MapTexts:
    """The words in and around an attention map, in the reader's language. Typed text is escaped later.

    >>> MapTexts(title="Encoder", masked="not written yet").query_axis
    'Query'
    """

    title: str = ""
    query_axis: str = "Query"
    key_axis: str = "Key"
    query: str = "Query"  # this and the next two: in the hover
    key: str = "Key"
    weight: str = "Weight"
    masked: str = "masked"
    padded: str = "padding"
    faint: str = "almost 0"
    selected: str = "selected"
    ringed: str = "looked at most"


@as_figure
def attention_heatmap(
    weights: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    texts: MapTexts = MapTexts(),
    masked: np.ndarray | None = None,
    padded: np.ndarray | None = None,
    emphasis_rows: Sequence[int] = (),
    selected: tuple[int, int] | None = None,
    ringed: Sequence[int] | None = None,
    first: tuple[int, int] = (0, 0),
    extent: int | None = None,
    difference: bool = False,
    unbounded: bool = False,
    logarithmic: bool = False,
    colour_max: float | None = 1.0,
    theme: str = "light",
) -> Specification:
    """Heatmap of one attention map; row 0 is at the top. People count positions from 1, so the cell of query q and
    key k, both counted from 0, lies at y = q + 1, x = k + 1.

    The numbers reach the figure as they are, whatever the scale.

    Args:
        weights: (Q, K) floats in 0..1; in -1..1 where ``difference``.
        query_tokens, key_tokens: Q and K tokens as they were typed; they are escaped here.
        masked: (Q, K) bool, True where the mask forbids looking. Such cells hold exactly 0 and are hatched,
            so that they differ from weights that are almost 0, and these from those that are merely small.
        padded: (Q, K) bool, True where there is only padding. Such cells are dotted, whatever they hold, and are not masked.
        emphasis_rows: rows whose labels are bold and coloured, such as the changed characters.
        selected: a cell (q, k) whose row and column are framed.
        ringed: (Q,) the key in each row that gets a ring, such as the one that is looked at most where cells show something else.
        first: the query and the key of the first cell, where tokens before it are left out. All numbers above
            count from there, too.
        extent: the tokens of the longest map beside which this one stands: all are drawn with cells of one size.
            None takes the longer side of this one.
        difference: whether ``weights`` are what is left after something was subtracted: then two colours
            part at 0.
        unbounded: whether they are amounts of any size, such as nats; then ``colour_max`` is best None.
        logarithmic: whether each factor of ten has the same part of the colours, down to FAINT; what is
            smaller looks like almost 0.
        colour_max: the weight of the strongest colour; None takes the largest in the map.

    Raises ValueError for tokens that are no texts, shapes that do not fit each other, weights outside their range, a
    masked cell that holds weight, a row or cell that does not exist, a colour_max that is not finite and positive, and
    an unknown theme.

    >>> figure = attention_heatmap(np.array([[0.75, 0.25], [0.5, 0.5]]), ["가", "방"], ["가", "방"])
    >>> figure.data[0].z.tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    info = attention_info(
        weights,
        query_tokens,
        key_tokens,
        masked,
        padded,
        emphasis_rows,
        selected,
        ringed,
        first,
        difference,
        colour_max,
        unbounded,
    )
    colours = weight_colours(info.colour_max, theme, difference=difference, logarithmic=logarithmic)
    layout = attention_layout(info, texts, extent, theme)
    if not info.weights.size:
        return {"data": [], "layout": layout}
    traces = [_heatmap(info, colours, texts)]
    hidden = Hidden(info.masked, info.padded, texts.masked, texts.padded)
    traces += [_moved(area, info.origin) for area in hidden.areas(info.weights.shape, theme)]
    traces.append(legend_entry(texts.faint, colours.ground, palette(theme).hatch))
    if info.selected:
        accent = palette(theme).accent
        traces.append(legend_entry(texts.selected, accent, accent, "square-open"))
    if info.ringed:
        traces.append(_rings(info, texts, theme))
    bar = weight_scale(plain_text(texts.weight), info.height)
    if logarithmic:
        traces.append(colours.bar(bar))
    else:
        traces[0]["colorbar"] = bar | {"tickformat": "~g", "nticks": 5}
    return {"data": traces, "layout": layout}


def _rings(info: AttentionInfo, texts: MapTexts, theme: str) -> dict:
    """A ring in one cell of each row, which leaves the colour of the cell to be seen."""
    size = min(RING, RING_SHARE * min(info.cell.width, info.cell.height))
    return {
        "type": "scatter",
        "x": [key + 1 for key in info.ringed],
        "y": [row + info.origin[0] for row in range(len(info.ringed))],
        "mode": "markers",
        "marker": {
            "symbol": "circle-open",
            "size": size,
            "color": palette(theme).text,
            "line": {"width": 1.5},
        },
        "name": plain_text(texts.ringed),
        "showlegend": True,
        "hoverinfo": "skip",
        **HOVER_AXES,
    }


def _moved(area: dict, origin: tuple[int, int]) -> dict:
    moved = {
        name: [None if place is None else place + start for place in area[name]]
        for name, start in zip(("y", "x"), origin, strict=True)
    }
    return area | moved | HOVER_AXES


def _has_hidden(info: AttentionInfo) -> bool:
    return bool((info.masked | info.padded).any())


def _template(info: AttentionInfo, texts: MapTexts) -> str:
    """The hover; the tokens come from the ticks."""
    query, key, weight = (template_text(name) for name in (texts.query, texts.key, texts.weight))
    digits = "+.3f" if info.difference else ".3f"
    note = "%{text}" if _has_hidden(info) else ""
    return (
        f"{query} %{{y:d}}: <b>%{{y}}</b><br>{key} %{{x:d}}: <b>%{{x}}</b>{note}"
        f"<br>{weight}: <b>%{{z:{digits}}}</b><extra></extra>"
    )


def _heatmap(info: AttentionInfo, colours: WeightColours, texts: MapTexts) -> dict:
    noted = {}
    if _has_hidden(info):
        masked = np.where(info.masked, f" ({template_text(texts.masked)})", "")
        noted["text"] = np.where(info.padded, f" ({template_text(texts.padded)})", masked)
    return {
        "type": "heatmap",
        "z": info.weights,
        "x0": info.origin[1],
        "y0": info.origin[0],
        "zmin": colours.lowest,
        "zmax": colours.highest,
        "colorscale": colours.scale,
        "xgap": int(info.cell.square),
        "ygap": int(info.cell.square),
        "showscale": not colours.logarithmic,
        "hovertemplate": _template(info, texts),
        **noted,
        **HOVER_AXES,
    }
