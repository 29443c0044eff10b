"""Where the line of tabs is longer than its place, as on a phone: keeps the open tab in sight, and shows others when an arrow is pressed."""

from pathlib import Path

from ui.components.packed import component

_COMPONENT = component("tabs", js=Path(__file__).with_suffix(".js").read_text("utf-8"))


def keep_in_sight(view: str) -> None:
    """Call this after the tabs. ``view`` is the open one. It draws nothing itself."""
    _COMPONENT(key="tab_in_sight", data={"view": view})
