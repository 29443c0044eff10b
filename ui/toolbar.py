"""The toolbar of every figure: one button for PNG, one for SVG, and labels in the visitor's language.

Plotly takes buttons of one's own only as JavaScript functions, which no figure can bring along from Python.
"""

from pathlib import Path

import streamlit as st

from ui import controls
from ui.reading import Say
from ui.texts import say
from viz.theme import palette

SCRIPT = Path(__file__).parent / "components" / "toolbar.js"

# A button's name -> the text of its label: ours, Plotly's that viz.config leaves, and Streamlit's.
_LABELS = {
    "png": "toolbar_png",
    "svg": "toolbar_svg",
    "zoom2d": "toolbar_drag_to_zoom",
    "pan2d": "toolbar_drag_to_move",
    "zoomIn2d": "toolbar_zoom_in",
    "zoomOut2d": "toolbar_zoom_out",
    "resetScale2d": "toolbar_reset",
    "Fullscreen": "toolbar_fullscreen",
    "Close fullscreen": "toolbar_leave_fullscreen",
}
_KEY = "figure_toolbar"
_COMPONENT = st.components.v2.component(_KEY, js=SCRIPT.read_text("utf-8"))


def mount() -> None:
    """Serve all figures of the page, also those that are drawn later; it shows nothing itself."""
    _COMPONENT(key=_KEY, data=toolbar_data(say, controls.theme()))


def toolbar_data(say: Say, theme: str) -> dict:
    """What ``toolbar.js`` needs: what each button does, and the colour behind a saved figure."""
    return {
        # Pairs, not a mapping: see address.publish.
        "names": tuple((button, say(key)) for button, key in _LABELS.items()),
        "ground": palette(theme).sequential[0],
    }
