"""Puts the lines of ``viz/browser/lines.py`` on a page."""

from ui.components.packed import component
from viz.browser.lines import LINES

_COMPONENT = component("lines", html=LINES.html, css=LINES.css, js=LINES.js)


def lines(data: dict, key: str) -> None:
    """Show ``data`` of ``viz.browser.lines.lines_data``. What the visitor points at or pins stays in the browser."""
    _COMPONENT(key=key, data=data)
