"""Heatmap tables of numbers, such as the steps of an attention."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from viz.axes import cell_size, column_ticks, named_axis
from viz.figure import (
    PLAIN,
    TITLE_HEIGHT,
    TOLERANCE,
    Captions,
    Hidden,
    base_layout,
    checked_array,
    legend_across,
    weight_scale,
)
from viz.labels import number_text, plain_text, template_text, token_label, weight_text
from viz.theme import colour_scale, palette

SIGNED, WEIGHT = "signed", "weight"


class TableSizes(NamedTuple):
    """Pixels of the parts of a table, and the numbers of columns up to which cells have numbers and gaps."""

    scale: int = 40
    name: int = 26  # of the columns
    legend: int = 34
    legend_line: int = 20  # each further one
    foot: int = 8
    tallest_row: int = 34
    lowest_row: int = 15
    with_numbers: int = 12
    with_gaps: int = 60  # with more columns a phone would show little but the gaps between cells


TABLE = TableSizes()


@dataclass(frozen=True)
class TableInfo:
    """A table as it is drawn, its arguments checked; raises ValueError as ``number_heatmap`` does."""

    values: np.ndarray  # (rows, columns) float64
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    scale: str = SIGNED
    hidden: Hidden = field(default_factory=Hidden)
    limit: float | None = None  # the number of the strongest colour; None: the largest in the table
    with_numbers: bool | None = None  # None: by the number of columns

    def __post_init__(self) -> None:
        if self.scale not in (SIGNED, WEIGHT):
            raise ValueError(f"scale should be {SIGNED!r} or {WEIGHT!r}, received {self.scale!r}")
        if not 0 < self.largest < np.inf:
            raise ValueError(f"largest should be finite and positive, received {self.largest}")
        self.hidden.cells(self.values.shape)  # raises ValueError for cells of another shape

    @cached_property
    def largest(self) -> float:
        if self.limit is not None or self.scale == WEIGHT:
            return 1.0 if self.limit is None else self.limit
        return float(np.abs(self.values[np.isfinite(self.values)]).max(initial=0)) or 1.0

    @property
    def numbers(self) -> bool:
        """Whether cells have their numbers."""
        return (
            len(self.column_labels) <= TABLE.with_numbers if self.with_numbers is None else self.with_numbers
        )

    def row_height(self, design_width: float | None) -> float:
        """Pixels of a row; of a map from tokens to tokens as high as a column is wide."""
        room = 640 / max(len(self.row_labels), 1)
        if design_width is not None:
            room = design_width / max(len(self.column_labels), 1)
        return max(TABLE.lowest_row, min(TABLE.tallest_row, room))


def _labelled(
    values: ArrayLike, row_labels: Sequence[str], column_labels: Sequence[str]
) -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...]]:
    """The values (rows, columns) and both labels; raises ValueError where the shape is another."""
    named = ("values", "(rows, columns)", "of the labels")
    rows, columns = tuple(row_labels), tuple(column_labels)
    return checked_array(named, values, (len(rows), len(columns)), dtype=np.float64), rows, columns


def _table_trace(info: TableInfo, columns: np.ndarray, captions: Captions, height: float) -> go.Heatmap:
    """A heatmap trace with the first ``len(columns)`` columns of the table, drawn at x = ``columns``."""
    colours = palette(captions.theme)
    values = info.values[:, : len(columns)]
    exact = _exact_texts(info, values)
    labels = [token_label(label) for label in info.column_labels[: len(columns)]]
    row_name, column_name, value_name = (template_text(name) for name in captions.hover)
    heatmap = go.Heatmap(
        x=columns,
        z=np.where(np.isfinite(values), values, np.nan).astype(np.float32),
        customdata=np.dstack([exact, np.broadcast_to(np.array(labels, dtype=object), exact.shape)]),
        zmin=0 if info.scale == WEIGHT else -info.largest,
        zmax=info.largest,
        colorscale=colour_scale(_colours(info, captions.theme)),
        xgap=int(len(columns) <= TABLE.with_gaps),
        ygap=1,
        showscale=not info.numbers,
        colorbar=weight_scale(captions.hover[2], height) | {"tickformat": "~g", "nticks": 5},
        hovertemplate=f"{row_name}: <b>%{{y}}</b><br>{column_name}: <b>%{{customdata[1]}}</b>"
        f"<br>{value_name}: <b>%{{customdata[0]}}</b><extra></extra>",
    )
    if info.numbers:
        # Without a given size, numbers shrink to their cells, and those that cannot are left out.
        heatmap.update(
            text=_cell_texts(info, values),
            texttemplate="%{text}",
            textfont={"color": colours.text},
        )
    return heatmap


def _cell_texts(info: TableInfo, values: np.ndarray) -> list[list[str]]:
    """The texts of the cells."""
    if info.scale != WEIGHT:
        return [[number_text(value) for value in row] for row in values]
    hidden = np.broadcast_to(info.hidden.cells(info.values.shape), info.values.shape)[:, : values.shape[1]]
    return [
        [weight_text(value, bool(cell)) for value, cell in zip(*pair, strict=True)]
        for pair in zip(values, hidden, strict=True)
    ]


def _colours(info: TableInfo, theme: str) -> tuple[str, ...]:
    """The colours of the scale; for cells with numbers only those on which they are legible."""
    colours = palette(theme)
    scale = colours.sequential if info.scale == WEIGHT else colours.diverging
    if not info.numbers:
        return scale
    middle = len(scale) // 2
    return scale[:3] if info.scale == WEIGHT else scale[middle - 1 : middle + 2]


def _exact_texts(info: TableInfo, values: np.ndarray) -> np.ndarray:
    """(rows, columns) str: the hover's text of each value, for a hidden cell with its reason."""
    reasons = info.hidden.reasons(info.values.shape)[:, : values.shape[1]]
    texts = [
        " · ".join(filter(None, (_exact(value), template_text(reason))))
        for value, reason in zip(values.flat, reasons.flat, strict=True)
    ]
    return np.array(texts, dtype=object).reshape(values.shape)


def _exact(value: float) -> str:
    return f"{value:.4g}".replace("-", "−") if np.isfinite(value) else number_text(value)


def _table_layout(
    info: TableInfo, captions: Captions, design_width: float | None, legend_lines: int
) -> go.Layout:
    """Axes with the labels, the height of the figure, and room for scale and legend."""
    titles, theme = captions.titles, captions.theme
    rows, columns = max(len(info.row_labels), 1), max(len(info.column_labels), 1)
    cell = cell_size(columns)
    if design_width is not None:  # minus the width of the row labels
        cell = replace(cell, width=min(cell.width, 0.8 * design_width / columns))
    ticks = column_ticks(info.column_labels, cell)
    row_height = info.row_height(design_width)
    # The toolbar lies across the first TITLE_HEIGHT; below it come scale, title of the columns and their
    # labels.
    head: float = TITLE_HEIGHT + (0 if info.numbers else TABLE.scale)
    head += ticks.height + 8 + (TABLE.name if titles[1] else 0)
    foot = TABLE.foot + (TABLE.legend + (legend_lines - 1) * TABLE.legend_line if legend_lines else 0)
    height = head + rows * row_height + foot
    column_axis = ticks.axis(theme, titles[1], ticks.above(), side="top", range=[-0.5, columns - 0.5])
    row_axis = named_axis(
        theme,
        titles[0],
        map(token_label, info.row_labels),
        range=[rows - 0.5, -0.5],
        tickfont={"size": round(min(13, max(9, 0.72 * row_height)))},
        automargin=True,
    )
    return go.Layout(
        base_layout(theme, captions.title, height)
        | {
            "xaxis": column_axis,
            "yaxis": row_axis,
            "margin": {"t": head, "l": 40, "r": 16, "b": foot},
            "meta": {"lines": max(ticks.steps, default=0) + 1},
            "legend": legend_across(0, "bottom", container=True, fixed=True),
        }
    )


def number_heatmap(
    values: np.ndarray,
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    *,
    scale: str = SIGNED,
    largest: float | None = None,
    hidden: Hidden | None = None,
    small_name: str = "",
    numbers: bool | None = None,
    title: str = "",
    titles: tuple[str, str] = ("Row", "Column"),
    hover: tuple[str, str, str] = ("Row", "Column", "Value"),
    design_width: float | None = None,
    label_every: int = 1,
    legend_lines: int | None = None,
    theme: str = "light",
) -> go.Figure:
    """Heatmap of a table; row 0 is at the top, and cell (r, c) lies at x = c, y = r.

    Args:
        values: (rows, columns); NaN is a gap, -inf a masked logit.
        row_labels, column_labels: as they were typed; they are escaped here. An empty label labels nothing.
        scale: "signed" runs from -largest over 0 to largest in two colours, "weight" from 0 to ``largest``
            in one.
        largest: the number of the strongest colour; None takes the largest absolute value in the table, and
            1 for weights.
        hidden: cells that are masked or padding, drawn over their values.
        small_name: the legend's name of a weight of almost 0; empty for no such entry.
        numbers: whether cells have their numbers; None decides by the number of columns.
        titles: of rows and columns; hover: names of row, column and value.
        design_width: pixels of a map from tokens to tokens, whose cells are square at that width; None for a
            table, whose rows are as high as a line of text.
        label_every: writes only every so many-th column label, such as of numbered dimensions.
        legend_lines: how many lines the legend has room for; None: one for a legend, else none. Figures that
            are side by side with the same number have their rows at the same heights.

    Raises:
        ValueError: shapes that do not fit each other, another scale, a ``largest`` that is not finite and
            positive, a ``label_every`` below 1, and an unknown theme.

    Example:
        >>> figure = number_heatmap(np.array([[1.0, -2.0]]), ["query"], ["1", "2"])
        >>> figure.data[0].z.tolist()
        [[1.0, -2.0]]
    """
    if label_every < 1:
        raise ValueError(f"label_every should be at least 1, received {label_every}")
    labelled = _labelled(values, row_labels, column_labels)
    info = TableInfo(*labelled, scale, hidden or Hidden(), largest, numbers)
    if legend_lines is None:
        legend_lines = int(bool(small_name) or info.hidden.cells(info.values.shape).any())
    captions = Captions(title, titles, hover, theme=theme)
    layout = _table_layout(info, captions, design_width, legend_lines)
    ticks = zip(layout.xaxis.tickvals, layout.xaxis.ticktext, strict=True)
    kept = [(place, label) for place, label in ticks if place % label_every == 0]
    layout.xaxis.update(tickvals=[place for place, _ in kept], ticktext=[label for _, label in kept])
    figure = go.Figure(layout=layout)
    if info.values.size:
        figure.add_trace(_table_trace(info, np.arange(info.values.shape[1]), captions, layout.height))
        figure.add_traces(info.hidden.areas(info.values.shape, theme))
    if small_name and figure.data:
        figure.add_trace(_small(small_name, theme))
    return figure


def attention_steps(
    steps: Sequence[np.ndarray],
    weights: np.ndarray,
    key_labels: Sequence[str],
    step_labels: Sequence[str],
    *,
    captions: Captions = PLAIN,
) -> go.Figure:
    """The steps of one query from products to weights: a row for each key, a column for each step, the
    weights last.

    ``steps`` are signed numbers (K,) each, with -inf where masked; ``weights`` (K,) lie in 0..1 and have
    their own colours. ``step_labels`` name the steps and the weights. Raises ValueError for shapes that do
    not fit each other and for weights outside 0..1.

    Example:
        >>> steps = [np.array([2.0, 0.0]), np.array([1.0, 0.0])]  # query · key for both keys, and half of it
        >>> names = ["q · k", "scaled", "softmax"]
        >>> figure = attention_steps(steps, np.array([0.73, 0.27]), ["가", "방"], names)
        >>> figure.data[0].z.tolist()
        [[2.0, 1.0], [0.0, 0.0]]
    """
    captions = captions.or_else(("Key", ""), ("Key", "Step", "Value"), ("masked",))
    (masked_name,), theme = captions.names, captions.theme
    weights = np.asarray(weights, dtype=np.float64)
    if not ((weights >= -TOLERANCE) & (weights <= 1 + TOLERANCE)).all():
        raise ValueError(f"weights should lie in 0..1, received {weights}")
    signed = np.column_stack([*steps, np.full(len(weights), np.nan)])
    hidden = Hidden(np.isneginf(signed), masked_name=masked_name)
    info = TableInfo(*_labelled(signed, key_labels, step_labels), hidden=hidden, with_numbers=True)
    layout = _table_layout(info, captions, None, int(hidden.cells(signed.shape).any()))
    # Names of steps, not tokens: a space in them stays a space.
    layout.xaxis.ticktext = [plain_text(label) for label in step_labels]
    last = len(steps)
    figure = go.Figure(layout=layout)
    if info.values.size:
        masked = Hidden(np.asarray(np.isneginf(signed).any(axis=1))[:, None], masked_name=masked_name)
        labelled = _labelled(weights[:, None], key_labels, step_labels[-1:])
        of_weights = TableInfo(*labelled, WEIGHT, masked, with_numbers=True)
        figure.add_trace(_table_trace(info, np.arange(last), captions, layout.height))
        figure.add_trace(_table_trace(of_weights, np.array([last]), captions, layout.height))
        figure.add_traces(info.hidden.areas(info.values.shape, theme))
        figure.add_vline(x=last - 0.5, line={"color": palette(theme).quiet_text, "width": 2})
    return figure


def _small(name: str, theme: str) -> go.Scatter:
    """A legend entry: how a weight of almost 0 looks."""
    colours = palette(theme)
    marker = {
        "symbol": "square",
        "size": 14,
        "color": colours.sequential[0],
        "line": {"color": colours.hatch, "width": 1},
    }
    return go.Scatter(
        x=[None], y=[None], mode="markers", marker=marker, name=plain_text(name), showlegend=True
    )
