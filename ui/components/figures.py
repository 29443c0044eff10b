"""Components that put figures on a page: Plotly figures, attention lines, decoding steps.

``draw`` shows a figure; every page uses it. It calls ``draw_plot``, which reports clicks, taps and the arrow
keys' choice. ``st.plotly_chart`` builds a chart anew whenever its numbers change, and does not report clicks
on the cells of a heatmap. This component redraws in place (``Plotly.react``); the latest figure wins. It owns
the page's only Plotly (``static/``), so ``st.plotly_chart``, which would load a second one, is used nowhere.

``draw_lines`` shows the lines of ``viz/browser/lines.py``, ``draw_steps`` the replay of decoding
(``viz/browser/steps.py``), in which a move through the steps does not run the page again.
"""

from collections.abc import Callable
from math import inf
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import viz
from model.trace.interventions import Head
from model.trace.trace import AttentionTrace, Selection
from ui.components.component import component, heard
from ui.shell import address, controls
from ui.wording import say
from viz.browser.lines import LINES
from viz.browser.plot import PLOT, plot_data
from viz.browser.steps import STEPS
from viz.browser.texts import grid_words
from viz.figure import Specification

_PLOT = component("plot", PLOT.js, html=PLOT.html, css=PLOT.css, isolate_styles=PLOT.isolated, sent_once=True)


def draw_plot(data: dict, key: str, on_click: Callable[[dict], None] | None = None) -> None:
    """Show ``data`` of ``viz.browser.plot.plot_data``.

    ``on_click`` receives the point chosen by mouse, touch or keyboard before the page runs again: the ``x``
    and ``y`` of a heatmap's cell, or the ``custom`` data of a marker.
    """

    def answer() -> None:
        point = heard(key, "click")
        if isinstance(point, dict) and on_click is not None:
            on_click(point)

    handlers: dict[str, Any] = {"on_click_change": answer} if on_click else {}
    _PLOT(key=key, data=data | {"answers": on_click is not None}, **handlers)


MOST_COLUMNS_ON_A_PHONE = 20  # a figure with more scrolls inside its box, so that columns stay apart


def box(name: str, columns: int) -> DeltaGenerator:
    """The container of a figure with so many ``columns``."""
    return st.container(key=f"{'wide_' if columns > MOST_COLUMNS_ON_A_PHONE else ''}figure_{name}")


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

    ``label`` describes the figure to people who cannot see it; without a label its own title does.
    ``on_click`` gets the chosen point before the page runs again (``components.plot``).
    """
    label = label or figure["layout"]["title"]["text"] or say("figure_label")
    draw_plot(
        plot_data(say, figure, label=label, file=file_name, title=title, theme=controls.theme()),
        key,
        on_click,
    )


def heads_figure(trace: AttentionTrace, selection: Selection) -> Specification:
    """All heads (L, H) of the selected kind as tiles, the selected ones framed."""
    return viz.head_grid.specification(
        trace.attention(selection.kind),
        **grid_words(say),
        chosen=selection.heads(trace),
        scale=False,
        theme=controls.theme(),
    )


def open_tile(point: dict) -> None:
    """From a callback: make the head of a chosen tile the selected one; other points change nothing."""
    if head := head_of(point):
        address.put_head(*head)


def head_of(point: dict) -> tuple[int, int] | None:
    """The layer and the head of a chosen tile, from 0; None for another point, since a browser may send
    anything.

    >>> head_of({"custom": [2, 0]}), head_of({})
    ((2, 0), None)
    """
    custom = point.get("custom")
    if isinstance(custom, list) and len(custom) == 2 and all(isinstance(n, int) for n in custom):
        return custom[0], custom[1]
    return None


def known_head(trace: AttentionTrace, point: dict) -> Head | None:
    """The head that the chosen point names by kind, layer and head, if ``trace`` has it; else None."""
    match point.get("custom"):
        case [str(kind), int(layer), int(head)] if kind in trace.kinds:
            layers, heads = trace.shape(kind)
            return Head(kind, layer, head) if 0 <= layer < layers and 0 <= head < heads else None
    return None


def cell_of(point: dict) -> tuple[int, int] | None:
    """The row and the column of a chosen cell, from 0; None for no point, since a browser may send anything.

    >>> cell_of({"x": 3, "y": 2}), cell_of({"x": "3"})
    ((1, 2), None)
    """
    x, y = point.get("x"), point.get("y")
    if isinstance(x, int | float) and isinstance(y, int | float) and abs(x) < inf and abs(y) < inf:
        return round(y) - 1, round(x) - 1
    return None


_LINES = component("lines", html=LINES.html, css=LINES.css, js=LINES.js)


def draw_lines(data: dict, key: str) -> None:
    """Show ``data`` of ``viz.browser.lines.lines_data``. Hovered and pinned lines stay in the browser."""
    _LINES(key=key, data=data)


_STEPS = component("steps", html=STEPS.html, css=STEPS.css, js=STEPS.js)


def draw_steps(
    data: dict, key: str, on_step: Callable[[int], None], on_parted: Callable[[int, int], None]
) -> None:
    """Show the player of ``viz.browser.steps.steps_data``.

    ``on_step`` receives the step, counted from 1, once the visitor has come to rest at another one. The
    browser leads: an answer that arrives late moves nothing, only another ``revision`` goes to ``step``.
    ``on_parted`` receives a step, counted from 1, and the place of the candidate that shall be written there
    instead, counted from 0; -1 for the typed text.
    """

    def answer() -> None:
        step = heard(key, "step")
        if type(step) is int:
            on_step(step)

    def part() -> None:
        match heard(key, "parted"):
            case [step, place] if type(step) is type(place) is int:
                on_parted(step, place)

    _STEPS(key=key, data=data, on_step_change=answer, on_parted_change=part)
