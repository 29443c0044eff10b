"""``draw``: shows a figure on a page. Every page uses it."""

from collections.abc import Callable
from math import inf

import plotly.graph_objects as go

import viz
from model.trace.selection import Selection
from model.trace.trace import AttentionTrace
from ui.components.plot import plot
from ui.shell import address, controls
from ui.wording.texts import say
from viz.browser.plot import plot_data
from viz.figure import Specification

MOST_COLUMNS_ON_A_PHONE = 20  # a figure with more scrolls inside its box, so that columns stay apart


def draw(
    figure: go.Figure | Specification,
    key: str,
    file_name: str,
    on_click: Callable[[dict], None] | None = None,
    *,
    label: str = "",
    title: str = "",
) -> None:
    """Show ``figure``. Its toolbar saves it as ``file_name`` with the escaped ``title`` above it.

    ``label`` describes the figure to people who cannot see it; without a label its own title does. ``on_click`` gets the chosen
    point before the page runs again (``components.plot``).
    """
    label = label or figure["layout"]["title"]["text"] or say("figure_label")
    plot(
        plot_data(say, figure, label=label, file=file_name, title=title, theme=controls.theme()),
        key,
        on_click,
    )


def draw_heads(
    trace: AttentionTrace,
    selection: Selection,
    key: str,
    file_name: str,
    on_click: Callable[[dict], None] | None = None,
    *,
    label: str,
) -> None:
    """All heads of the selected kind as tiles, the selected ones framed. ``on_click`` as ``draw`` has it."""
    figure = viz.head_grid.specification(
        trace.attention(selection.kind),
        layer_title=say("layer_label"),
        head_title=say("head_label"),
        weight_title=say("hover_weight"),
        chosen=selection.heads(trace),
        scale=False,
        theme=controls.theme(),
    )
    draw(figure, key, file_name, on_click, label=label)


def open_tile(point: dict) -> None:
    """From a callback: make the head of a chosen tile the one that the page looks at. What is no tile changes nothing."""
    if head := head_of(point):
        address.put_head(*head)


def head_of(point: dict) -> tuple[int, int] | None:
    """The layer and the head of a chosen tile, from 0; None for what is no tile, since a browser may send anything."""
    custom = point.get("custom")
    if isinstance(custom, list) and len(custom) == 2 and all(isinstance(n, int) for n in custom):
        return custom[0], custom[1]
    return None


def cell_of(point: dict) -> tuple[int, int] | None:
    """The row and the column of a chosen cell, from 0; None for what is no point, since a browser may send anything."""
    x, y = point.get("x"), point.get("y")
    if isinstance(x, int | float) and isinstance(y, int | float) and abs(x) < inf and abs(y) < inf:
        return round(y) - 1, round(x) - 1
    return None
