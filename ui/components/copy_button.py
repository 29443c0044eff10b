"""A button that copies a text, such as a link."""

from pathlib import Path

from ui.components.packed import component
from ui.wording.texts import say

_FOLDER = Path(__file__).parent
COPYING = (_FOLDER / "copying.js").read_text("utf-8")  # what a component of ours needs to copy
_STYLE = """
button { font: inherit; font-family: var(--st-font); font-size: 0.9rem; padding: 0.35rem 0.8rem; cursor: pointer; color: var(--st-text-color);
  background: none; border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius); }
button:focus-visible { outline: 3px solid var(--st-primary-color); outline-offset: 1px; }
"""
_COMPONENT = component(
    "copy_button",
    html='<button type="button"></button>',
    css=_STYLE,
    js=COPYING + (_FOLDER / "copy_button.js").read_text("utf-8"),
)


def copy_button(text: str, label: str, key: str) -> None:
    """A button called ``label`` that copies ``text``."""
    _COMPONENT(key=key, data={"text": text, "label": label, "done": say("copied")})
