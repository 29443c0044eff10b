"""The switch between light and dark. The page runs again when it is pressed, because figures and styles have their colours in them."""

from collections.abc import Sequence
from pathlib import Path

from ui.components.packed import component
from ui.wording.texts import say

_STYLE = """
button { width: 2.1rem; height: 2.1rem; padding: 0; font-size: 1.1rem; line-height: 1; cursor: pointer; color: var(--st-text-color);
  background: none; border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius); }
button:focus-visible { outline: 3px solid var(--st-primary-color); outline-offset: 1px; }
"""
_COMPONENT = component(
    "theme_change",
    html='<button type="button"></button>',
    css=_STYLE,
    js=Path(__file__).with_suffix(".js").read_text("utf-8"),
)


def follow(theme: str, pages: Sequence[str]) -> None:
    """Show the switch, and have the page run again once it looks other than ``theme``, "light" or "dark". ``pages`` are the paths of
    all pages, which change their look together.
    """
    labels = {look: say(f"theme_{look}") for look in ("light", "dark")}
    # The callback has nothing to do: the change itself makes the page run again, and each run asks the browser for the theme.
    _COMPONENT(
        key="theme_change",
        data={"theme": theme, "labels": labels, "pages": list(pages)},
        on_theme_change=lambda: None,
    )
