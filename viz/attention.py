"""Heatmap of an attention map: queries in the rows, keys in the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from viz.axes import CellSize, ColumnTicks, cell_size, column_ticks, named_axis, row_ticks
from viz.figure import (
    HOVER_AXES,
    TITLE_HEIGHT,
    Hidden,
    Specification,
    as_figure,
    base_layout,
    checked_array,
    legend_across,
    legend_entry,
    outlines,
    weight_scale,
)
from viz.labels import plain_text, template_text, token_label, visible_token, width_in_em
from viz.theme import WeightColours, palette, weight_colours

# Pixels below the title: colour scale, legend, the name of the columns; then come their labels.
SCALE_HEIGHT = 40
LEGEND_HEIGHT = 28
NAME_HEIGHT = 30
FOOT = 12
LEAST_LEFT = 40
# The least width of a row's label, in em: that of the end mark, so that the map does not move when the marks
# are hidden.
LEAST_LABEL = width_in_em("</s>")


@dataclass(frozen=True)
class AttentionInfo:
    """The data of one heatmap, checked. ``emphasis_rows`` and ``selected`` count tokens from 0."""

    weights: np.ndarray  # (Q, K) float32
    query_tokens: tuple[str, ...]  # (Q,)
    key_tokens: tuple[str, ...]  # (K,)
    masked: np.ndarray  # (Q, K) bool
    padded: np.ndarray  # (Q, K) bool; no cell is both
    emphasis_rows: frozenset[int]
    selected: tuple[int, int] | None
    ringed: tuple[int, ...]  # (Q,), or nothing
    first: tuple[int, int]  # (row, column) of the first cell in the whole sentence, from 0
    difference: bool
    colour_max: float

    @cached_property
    def cell(self) -> CellSize:
        return cell_size(len(self.key_tokens), len(self.query_tokens))

    @cached_property
    def columns(self) -> ColumnTicks:
        return column_ticks(self.key_tokens, self.cell)

    @property
    def top(self) -> float:
        """Height in pixels above the cells."""
        return TITLE_HEIGHT + SCALE_HEIGHT + LEGEND_HEIGHT + NAME_HEIGHT + self.columns.height

    @property
    def left(self) -> float:
        """Width in pixels left of the cells. Plotly makes room for longer labels itself, and draws a second
        time for it.
        """
        return max(LEAST_LEFT, NAME_HEIGHT + self.widest_row * self.cell.font)

    @property
    def height(self) -> float:
        """The figure's height in pixels."""
        return self.top + max(len(self.query_tokens), 1) * self.cell.height + FOOT

    @property
    def origin(self) -> tuple[int, int]:
        """(y, x) of the first cell in the figure, where positions count from 1."""
        return self.first[0] + 1, self.first[1] + 1

    @property
    def rows_span(self) -> tuple[float, float]:
        """The vertical axis from its lower end to its upper end."""
        start = self.origin[0] - 0.5
        return start + max(len(self.query_tokens), 1), start

    @property
    def columns_span(self) -> tuple[float, float]:
        start = self.origin[1] - 0.5
        return start, start + max(len(self.key_tokens), 1)

    @property
    def widest_row(self) -> float:
        """The width of the widest row label, in em."""
        return max([LEAST_LABEL, *(width_in_em(visible_token(token)) for token in self.query_tokens)])


def _hidden_cells(
    weights: np.ndarray, masked: ArrayLike | None, padded: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray]:
    """(masked, padded) of weights (Q, K), both (Q, K) bool; no cell is both. Masked weights are exactly 0."""
    dotted = _cells("padded", padded, weights)
    hatched = _cells("masked", masked, weights) & ~dotted
    if (weights[hatched] != 0).any():
        raise ValueError(
            f"masked cells should hold exactly 0, received {weights[hatched & (weights != 0)][0]}"
        )
    return hatched, dotted


def _check_places(info: AttentionInfo) -> None:
    """Raises ValueError for rows and cells that do not exist."""
    rows, columns = (range(a, a + size) for a, size in zip(info.first, info.weights.shape, strict=True))
    if outside := [row for row in info.emphasis_rows if row not in rows]:
        raise ValueError(f"emphasis_rows should lie in {_ends(rows)}, received {outside}")
    if info.selected is not None and not (info.selected[0] in rows and info.selected[1] in columns):
        raise ValueError(
            f"selected should lie in {_ends(rows)} and {_ends(columns)}, received {info.selected}"
        )
    rings = info.ringed
    if rings and (len(rings) != len(rows) or any(key not in columns for key in rings)):
        raise ValueError(f"ringed should have {len(rows)} numbers in {_ends(columns)}, received {rings[:5]}")
    if not 0 < info.colour_max < np.inf:
        raise ValueError(f"colour_max should be finite and positive, received {info.colour_max}")


def _ends(numbers: range) -> str:
    return f"{numbers.start}..{numbers.stop - 1}"


def _cells(name: str, cells: ArrayLike | None, weights: np.ndarray) -> np.ndarray:
    """(Q, K) bool, all False for None."""
    cells = np.zeros(weights.shape, bool) if cells is None else np.asarray(cells, dtype=bool)
    if cells.size == 0 and weights.size == 0:
        return np.zeros(weights.shape, bool)
    if cells.shape != weights.shape:
        raise ValueError(f"{name} should have the shape of weights {weights.shape}, received {cells.shape}")
    return cells


def _attention_layout(info: AttentionInfo, texts: MapTexts, extent: int | None, theme: str) -> dict:
    """The layout of ``attention_heatmap``; the MapTexts are escaped here."""
    framed = info.selected and (info.selected[0] + 1, info.selected[1] + 1)
    return base_layout(theme, texts.title, info.height) | {
        "xaxis": _key_axis(info, texts.key_axis, theme),
        "yaxis": _query_axis(info, texts.query_axis, theme),
        "xaxis2": _hover_axis("x", info.columns_span, info.origin[1], info.key_tokens),
        "yaxis2": _hover_axis("y", info.rows_span, info.origin[0], info.query_tokens),
        "shapes": outlines(framed, info.rows_span, info.columns_span, theme) if framed else [],
        "meta": _fit(info, texts, extent),
        "margin": {"t": info.top, "l": info.left, "r": 16, "b": FOOT},
        "plot_bgcolor": palette(theme).grid if info.weights.size else "rgba(0,0,0,0)",
        "legend": _legend(info),
    }


def _fit(info: AttentionInfo, texts: MapTexts, extent: int | None) -> dict:
    """The data by which a page fits the figure to its window (``plot_fit.js``) and reads cells out."""
    rows, columns = len(info.query_tokens), len(info.key_tokens)
    return {
        "fit": "cells",
        "rows": max(rows, 1),
        "columns": max(columns, 1),
        "extent": max(rows, columns, extent or 0, 1),
        "names": [plain_text(name) for name in (texts.query, texts.key, texts.weight)],
    }


def _key_axis(info: AttentionInfo, title: str, theme: str) -> dict:
    columns = info.columns
    return columns.axis(
        theme,
        title,
        columns.above(),
        info.origin[1],
        side="top",
        range=info.columns_span,
        constrain="domain",
        constraintoward="left",
    )


def _query_axis(info: AttentionInfo, title: str, theme: str) -> dict:
    start, colour = info.origin[0], palette(theme).accent
    always = {row - info.first[0] for row in info.emphasis_rows}
    rows = row_ticks(info.query_tokens, info.cell, always)
    labels = [token_label(token) for token in info.query_tokens]
    for row in always:
        labels[row] = f'<b><span style="color:{colour}">{labels[row]}</span></b>'
    square = {"scaleanchor": "x", "scaleratio": 1} if info.cell.square else {}
    return named_axis(
        theme,
        title,
        [labels[row] for row in rows],
        [row + start for row in rows],
        range=info.rows_span,
        tickfont={"size": info.cell.font},
        automargin=True,
        constrain="domain",
        constraintoward="top",
        **square,
    )


def _hover_axis(over: str, span: tuple[float, float], first: int, tokens: Sequence[str]) -> dict:
    """An invisible axis with a label for every place. The hover reads labels from it, also those that have no
    room on screen.
    """
    return {
        "overlaying": over,
        "matches": over,
        "range": span,
        "tickmode": "array",
        "tickvals": list(range(first, first + len(tokens))),
        "ticktext": [token_label(token) for token in tokens],
        "showticklabels": False,
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
    }


def _legend(info: AttentionInfo) -> dict:
    return legend_across(1 - (TITLE_HEIGHT + SCALE_HEIGHT) / info.height, "top", container=True, fixed=True)


RING, RING_SHARE = 14, 0.7  # pixels across a ring, at most so much of its cell


@dataclass(frozen=True)
class MapTexts:
    """The words in and around an attention map, in the reader's language. Typed text is escaped later.

    Example:
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
    """Heatmap of one attention map; row 0 is at the top. People count positions from 1, so the cell of query
    q and key k, both counted from 0, lies at y = q + 1, x = k + 1.

    The numbers reach the figure unchanged on every scale.

    Args:
        weights: (Q, K) floats in 0..1; in -1..1 where ``difference``.
        query_tokens, key_tokens: Q and K tokens as they were typed; they are escaped here.
        masked: (Q, K) bool, True where the mask forbids looking. Such cells hold exactly 0 and are hatched,
            so that they differ from weights that are almost 0, and these from those that are merely small.
        padded: (Q, K) bool, True for padding. Such cells are dotted for any value, and are not masked.
        emphasis_rows: rows whose labels are bold and coloured, such as the changed characters.
        selected: a cell (q, k) whose row and column are framed.
        ringed: (Q,) the key in each row that gets a ring, such as the one with the largest weight where cells
            show another number.
        first: the query and the key of the first cell, where tokens before it are left out. All numbers above
            count from there, too.
        extent: the tokens of the longest map beside this one: all are drawn with cells of one size.
            None takes the longer side of this one.
        difference: whether ``weights`` are a difference of two maps: then two colours part at 0.
        unbounded: whether they are amounts of any size, such as nats; then ``colour_max`` is best None.
        logarithmic: whether each factor of ten has the same part of the colours, down to FAINT; smaller
            weights look like almost 0.
        colour_max: the weight of the strongest colour; None takes the largest in the map.

    Raises:
        ValueError: tokens that are no texts, shapes that do not fit each other, weights outside their
            range, a masked cell that holds weight, a row or cell that does not exist, a colour_max that
            is not finite and positive, and an unknown theme.

    Example:
        >>> figure = attention_heatmap(np.array([[0.75, 0.25], [0.5, 0.5]]), ["가", "방"], ["가", "방"])
        >>> figure.data[0].z.tolist()
        [[0.75, 0.25], [0.5, 0.5]]
    """
    if strange := [token for token in (*query_tokens, *key_tokens) if not isinstance(token, str)]:
        raise ValueError(f"tokens should be texts, received {strange[:3]}")
    limits = (-np.inf, np.inf) if unbounded else (-1 if difference else 0, 1)
    named = ("weights", "(Q, K)", "of the tokens")
    weights = checked_array(named, weights, (len(query_tokens), len(key_tokens)), limits)
    info = AttentionInfo(
        weights,
        tuple(query_tokens),
        tuple(key_tokens),
        *_hidden_cells(weights, masked, padded),
        frozenset(emphasis_rows),
        selected,
        () if ringed is None else tuple(map(int, ringed)),
        first,
        difference,
        (float(np.abs(weights).max(initial=0)) or 1.0) if colour_max is None else colour_max,
    )
    _check_places(info)
    colours = weight_colours(info.colour_max, theme, difference=difference, logarithmic=logarithmic)
    layout = _attention_layout(info, texts, extent, theme)
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
    bar = weight_scale(texts.weight, info.height)
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
