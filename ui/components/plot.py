"""``plot``: puts a Plotly figure on the page and reports clicks, taps and the arrow keys' choice. Every page uses it.

``st.plotly_chart`` builds a chart anew whenever its numbers change, and does not report clicks on the cells of a heatmap. This
component redraws in place (``Plotly.react``); the latest figure wins. It owns the page's only Plotly (``static/``), so
``st.plotly_chart``, which would load a second one, is used nowhere.

The script that draws has 20 kB. Sent with each figure it would be half of all that a keystroke sends. So it is a component of its
own: it is the same in every run, and Streamlit does not send again what a browser has.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from ui.components.heard import heard
from ui.components.packed import component
from viz.browser.plot import PLOT

_MEETING, _PLACE = (
    Path(__file__).with_name(f"plot_{name}.js").read_text("utf-8") for name in ("meeting", "place")
)
_COMPONENT = component(
    "plot", html=PLOT.html, css=PLOT.css, js=_MEETING + _PLACE, isolate_styles=PLOT.isolated
)
_DRAWING = st.components.v2.component(
    "plot_drawing", js=f"{_MEETING}{PLOT.handed_to('meeting.resolve')}export default function () {{}}\n"
)


def prepare() -> None:
    """Load the script that draws the figures of this page, once. It shows nothing itself."""
    _DRAWING(key="plot_drawing")


def plot(data: dict, key: str, on_click: Callable[[dict], None] | None = None) -> None:
    """Show ``data`` of ``viz.browser.plot.plot_data``.

    ``on_click`` receives what was chosen by mouse, touch or keyboard before the page runs again: the ``x`` and
    ``y`` of a heatmap's cell, or the ``custom`` data of a marker.
    """

    def answer() -> None:
        point = heard(key, "click")
        if isinstance(point, dict) and on_click is not None:
            on_click(point)

    handlers: dict[str, Any] = {"on_click_change": answer} if on_click else {}
    _COMPONENT(key=key, data=data | {"answers": on_click is not None}, **handlers)
