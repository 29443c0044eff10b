"""Lecture mode: figures with larger type for the back row; the page's own type is in ``lecture.css``."""

import plotly.graph_objects as go

from ui import address

FONT_FACTOR = 1.3


def is_on() -> bool:
    return address.get("lecture") == "1"


def enlarged(figure: go.Figure, factor: float = FONT_FACTOR) -> go.Figure:
    """``figure`` with every font of its layout ``factor`` times as large and room for them above; data and
    colours stay."""
    layout = _with_larger_fonts(figure.layout.to_plotly_json(), factor)
    margin = layout.get("margin", {})
    if "height" in layout and "t" in margin:
        more = margin["t"] * (factor - 1)
        layout |= {"height": layout["height"] + more, "margin": margin | {"t": margin["t"] + more}}
    return go.Figure(figure.data, layout)


def _with_larger_fonts(part: object, factor: float, in_font: bool = False) -> object:
    if isinstance(part, list | tuple):
        return [_with_larger_fonts(each, factor) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        name: value * factor
        if in_font and name == "size"
        else _with_larger_fonts(value, factor, name.endswith("font"))
        for name, value in part.items()
    }
