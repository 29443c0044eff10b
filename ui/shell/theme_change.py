"""Runs the page again when it turns from light to dark or back, because figures and styles have their colours in them."""

from pathlib import Path

from ui.components.packed import component

_COMPONENT = component("theme_change", js=Path(__file__).with_suffix(".js").read_text("utf-8"))


def follow(theme: str) -> None:
    """Have the page run again once it looks other than ``theme``, "light" or "dark"; nothing is shown."""
    # A change of the component's is all that is needed: each run asks the browser for the theme anyway.
    _COMPONENT(key="theme_change", data={"theme": theme}, on_theme_change=lambda: None)
