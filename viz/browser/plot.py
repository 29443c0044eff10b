"""JSON for ``plot.js``: a Plotly figure drawn in place, its size, its keyboard control.

``layout.meta.fit`` of a figure says whether it may be fitted to the window (``plot_fit.js``). All maps of a
sentence get cells of one size, and so do sentences of about the same length. Arrow keys reach the cells;
choosing one moves nothing.
"""

import plotly.graph_objects as go

from viz.browser.document import PLOTLY, SAVING, TYPE, read_script, served
from viz.browser.texts import Say
from viz.figure import Specification, to_json
from viz.theme import palette

# Plotly finds its places by the document's own styles, so the component must not be shut off from them.
PLOT = read_script(
    "plot",
    "dom.js",
    "type.js",
    "room.js",
    "plot_fit.js",
    "plot_tiles.js",
    "plot_cells.js",
    "plot_table.js",
    "plot.js",
    isolated=False,
    constants={**SAVING, **TYPE, "LIBRARY": served(PLOTLY)},
)
_PLOTLY_WORDS = {  # Plotly's own name of a button -> the text of its label
    "Zoom": "toolbar_drag_to_zoom",
    "Pan": "toolbar_drag_to_move",
    "Zoom in": "toolbar_zoom_in",
    "Zoom out": "toolbar_zoom_out",
    "Reset axes": "toolbar_reset",
}


def plot_data(
    say: Say,
    figure: go.Figure | Specification,
    *,
    label: str,
    file: str,
    title: str = "",
    theme: str = "light",
) -> dict:
    """The data by which ``plot.js`` draws ``figure``, as JSON; it works without Streamlit, too.

    ``label`` describes the figure to people who cannot see it. A saved picture is called ``file`` and has the
    already escaped ``title`` above it.
    """
    return {
        "spec": to_json(figure),  # as text: Streamlit would turn arrays of objects into their Python spelling
        "label": label,
        "file": file,
        "title": title,
        "ground": palette(theme).sequential[0],
        "words": {
            "png": say("toolbar_png"),
            "svg": say("toolbar_svg"),
            "table": say("toolbar_table"),
            "close": say("correction_close"),
            "plotly": {name: say(key) for name, key in _PLOTLY_WORDS.items()},
        },
    }
