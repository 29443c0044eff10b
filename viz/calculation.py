"""Tables of numbers drawn as heatmaps with the numbers in their cells: how attention is computed, step by step."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.attention_info import TOLERANCE
from viz.hidden import Hidden
from viz.labels import plain_text
from viz.number_table import SIGNED, WEIGHT, table_info, table_layout, table_trace
from viz.theme import palette


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
        small_name: what the legend calls a weight of almost 0; empty for no such entry.
        numbers: whether the numbers stand in the cells; None writes them where there is room.
        titles: of rows and columns; hover: names of row, column and value.
        design_width: pixels of a map from tokens to tokens, whose cells are square at that width; None for a
            table, whose rows are as high as a line of text.
        label_every: writes only every so many-th column label, such as of numbered dimensions.
        legend_lines: how many lines the legend has room for; None gives it one where there is a legend. Figures that
            stand side by side with the same number have their rows at the same heights, whatever their legends hold.

    Raises ValueError for shapes that do not fit each other, another scale, a ``largest`` that is not finite and
    positive, a ``label_every`` below 1, and an unknown theme.

    >>> figure = number_heatmap(np.array([[1.0, -2.0]]), ["query"], ["1", "2"])
    >>> figure.data[0].z.tolist()
    [[1.0, -2.0]]
    """
    if label_every < 1:
        raise ValueError(f"label_every should be at least 1, received {label_every}")
    info = table_info(values, row_labels, column_labels, scale, largest, hidden, numbers)
    if legend_lines is None:
        legend_lines = int(bool(small_name) or info.hidden.cells(info.values.shape).any())
    layout = table_layout(info, title, titles, design_width, theme, legend_lines)
    ticks = zip(layout.xaxis.tickvals, layout.xaxis.ticktext, strict=True)
    kept = [(place, label) for place, label in ticks if place % label_every == 0]
    layout.xaxis.update(tickvals=[place for place, _ in kept], ticktext=[label for _, label in kept])
    figure = go.Figure(layout=layout)
    if info.values.size:
        figure.add_trace(table_trace(info, np.arange(info.values.shape[1]), hover, layout.height, theme))
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
    masked_name: str = "masked",
    title: str = "",
    titles: tuple[str, str] = ("Key", ""),
    hover: tuple[str, str, str] = ("Key", "Step", "Value"),
    theme: str = "light",
) -> go.Figure:
    """The steps of one query from products to weights: a row for each key, a column for each step, the weights last.

    ``steps`` are signed numbers (K,) each, with -inf where masked; ``weights`` (K,) lie in 0..1 and have
    their own colours. ``step_labels`` name the steps and the weights. Raises ValueError for shapes that do
    not fit each other and for weights outside 0..1.

    >>> steps = [np.array([2.0, 0.0]), np.array([1.0, 0.0])]  # query · key for both keys, and the same divided by 2
    >>> figure = attention_steps(steps, np.array([0.73, 0.27]), ["가", "방"], ["q · k", "scaled", "softmax"])
    >>> figure.data[0].z.tolist()
    [[2.0, 1.0], [0.0, 0.0]]
    """
    weights = np.asarray(weights, dtype=np.float64)
    if not ((weights >= -TOLERANCE) & (weights <= 1 + TOLERANCE)).all():
        raise ValueError(f"weights should lie in 0..1, received {weights}")
    signed = np.column_stack([*steps, np.full(len(weights), np.nan)])
    hidden = Hidden(np.isneginf(signed), masked_name=masked_name)
    info = table_info(signed, key_labels, step_labels, SIGNED, None, hidden, True)
    layout = table_layout(info, title, titles, None, theme, int(hidden.cells(signed.shape).any()))
    layout.xaxis.ticktext = [
        plain_text(label) for label in step_labels
    ]  # names of steps, not tokens: a space in them stays a space
    last = len(steps)
    figure = go.Figure(layout=layout)
    if info.values.size:
        masked = Hidden(np.asarray(np.isneginf(signed).any(axis=1))[:, None], masked_name=masked_name)
        of_weights = table_info(weights[:, None], key_labels, step_labels[-1:], WEIGHT, None, masked, True)
        figure.add_trace(table_trace(info, np.arange(last), hover, layout.height, theme))
        figure.add_trace(table_trace(of_weights, np.array([last]), hover, layout.height, theme))
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
