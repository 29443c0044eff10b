"""``plot``: puts a Plotly figure on the page and reports clicks, taps and the arrow keys' choice. Every page uses it.

``st.plotly_chart`` builds a chart anew whenever its numbers change, and does not report clicks on the cells of a heatmap. This
component redraws in place (``Plotly.react``); the latest figure wins. It owns the page's only Plotly (``static/``), so
``st.plotly_chart``, which would load a second one, is used nowhere.
"""

from collections.abc import Callable
from typing import Any

from ui.components.heard import heard
from ui.components.packed import component
from viz.browser.plot import PLOT

_COMPONENT = component(
    "plot", PLOT.js, html=PLOT.html, css=PLOT.css, isolate_styles=PLOT.isolated, sent_once=True
)


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
