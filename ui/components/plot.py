"""The one way in which a Plotly figure reaches the screen, and a click on it comes back.

``st.plotly_chart`` mounts a chart anew whenever its numbers change, and does not report clicks on the cells of a
heatmap. This component keeps its node, redraws in place, fits the figure to the window (``plot_fit.js``) and lets
the arrow keys reach every cell.
"""

from collections.abc import Callable
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st

from ui.reading import Say
from viz.theme import palette

_FOLDER = Path(__file__).parent
SCRIPT = "\n".join((_FOLDER / name).read_text("utf-8") for name in ("plot_fit.js", "plot.js"))
STYLE = (_FOLDER / "plot.css").read_text("utf-8")
# Plotly finds its places by the document's own styles, so the component must not be shut off from them.
_COMPONENT = st.components.v2.component(
    "plot", html='<div class="plot"></div>', css=STYLE, js=SCRIPT, isolate_styles=False
)
_PLOTLY_WORDS = {  # Plotly's own name of a button -> the text of its label
    "Zoom": "toolbar_drag_to_zoom",
    "Pan": "toolbar_drag_to_move",
    "Zoom in": "toolbar_zoom_in",
    "Zoom out": "toolbar_zoom_out",
    "Reset axes": "toolbar_reset",
}


def plot(data: dict, key: str, on_click: Callable[[dict], None] | None = None) -> None:
    """Show ``data`` of ``plot_data``.

    ``on_click`` receives what was chosen by mouse, touch or keyboard before the page runs again: the ``x`` and
    ``y`` of a heatmap's cell, or the ``custom`` data of a marker.
    """

    def answer() -> None:
        point = st.session_state[key]["click"]
        if isinstance(point, dict):
            on_click(point)

    handlers = {"on_click_change": answer} if on_click else {}
    _COMPONENT(key=key, data=data | {"answers": on_click is not None}, **handlers)


def plot_data(
    say: Say, figure: go.Figure, *, label: str, file: str, title: str = "", theme: str = "light"
) -> dict:
    """Everything that ``plot.js`` needs, as JSON; it works without Streamlit, too.

    ``label`` says what the figure shows to who cannot see it. A saved picture is called ``file`` and has the
    already escaped ``title`` above it.
    """
    return {
        "spec": figure.to_json(),  # as text: Streamlit would turn arrays of objects into their Python spelling
        "label": label,
        "file": file,
        "title": title,
        "ground": palette(theme).sequential[0],
        "words": {
            "png": say("toolbar_png"),
            "svg": say("toolbar_svg"),
            "plotly": {name: say(key) for name, key in _PLOTLY_WORDS.items()},
        },
    }
