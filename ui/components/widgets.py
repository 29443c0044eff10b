"""Small components: a copy button, tabs kept in sight, a welcome with a tour.

``copy_button`` copies a text, such as a link. ``keep_in_sight`` keeps the open tab in sight where the line of
tabs is longer than its place, as on a phone, and shows others when an arrow is pressed. ``welcome`` greets a
first visitor and offers a tour of the page that may be left at any point. The browser remembers that it was
seen.
"""

from pathlib import Path

from ui.components.component import component
from ui.wording import say

_FOLDER = Path(__file__).parent
COPYING = (_FOLDER / "copying.js").read_text("utf-8")  # the part of a script that copies
_COPY_STYLE = (
    """
button { font: inherit; font-family: var(--st-font); font-size: 0.9rem; padding: 0.35rem 0.8rem;"""
    """ cursor: pointer; color: var(--st-text-color);
  background: none; border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius); }
button:focus-visible { outline: 3px solid var(--st-primary-color); outline-offset: 1px; }
"""
)
_COPY = component(
    "copy_button",
    html='<button type="button"></button>',
    css=_COPY_STYLE,
    js=COPYING + (_FOLDER / "copy_button.js").read_text("utf-8"),
)


def copy_button(text: str, label: str, key: str) -> None:
    """A button called ``label`` that copies ``text``."""
    _COPY(key=key, data={"text": text, "label": label, "done": say("copied")})


_TABS = component("tabs", js=Path(__file__).with_name("tabs.js").read_text("utf-8"))


def keep_in_sight(view: str) -> None:
    """Call this after the tabs. ``view`` is the open one. It draws nothing itself."""
    _TABS(key="tab_in_sight", data={"view": view})


# The stops of the tour in the order of the page: the name of its text, and its place.
STOPS = {
    "tour_text": ".st-key-live_text",
    "tour_correction": ".st-key-correction",
    "tour_heads": ".st-key-overview",
    "tour_map": ".st-key-map",
    "tour_picture": ".st-key-picture",
    "tour_views": ".st-key-tabs",
    "tour_pages": ".st-key-pages",
}
_WELCOME = component(
    "welcome",
    html='<div class="welcome"></div>',
    css=(_FOLDER / "welcome.css").read_text("utf-8"),
    js=(_FOLDER / "welcome.js").read_text("utf-8"),
)


def welcome() -> None:
    """Welcome a first visitor; for others this draws nothing."""
    words = {name: say(f"tour_{name}") for name in ("welcome", "begin", "next", "end", "leave", "label")}
    stops = [{"place": place, "text": say(name)} for name, place in STOPS.items()]
    _WELCOME(key="welcome", data={"words": words, "stops": stops})
