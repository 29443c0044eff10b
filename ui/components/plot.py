"""The one way in which a Plotly figure reaches the screen, and a click on it comes back.

``st.plotly_chart`` mounts a chart anew whenever its numbers change, and does not report clicks on the cells of a
heatmap. This component keeps its node and redraws in place.
"""

from collections.abc import Callable

import streamlit as st

from ui.components.heard import heard
from viz.lens.plot import PLOT

_COMPONENT = st.components.v2.component(
    "plot", html=PLOT.html, css=PLOT.css, js=PLOT.js, isolate_styles=PLOT.isolated
)


def plot(data: dict, key: str, on_click: Callable[[dict], None] | None = None) -> None:
    """Show ``data`` of ``viz.lens.plot.plot_data``.

    ``on_click`` receives what was chosen by mouse, touch or keyboard before the page runs again: the ``x`` and
    ``y`` of a heatmap's cell, or the ``custom`` data of a marker.
    """

    def answer() -> None:
        point = heard(key, "click")
        if isinstance(point, dict):
            on_click(point)

    handlers = {"on_click_change": answer} if on_click else {}
    _COMPONENT(key=key, data=data | {"answers": on_click is not None}, **handlers)
