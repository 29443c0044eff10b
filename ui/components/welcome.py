"""A first visit: a line of welcome, and a tour of the page that may be left at any point. The browser remembers that it was seen."""

from pathlib import Path

from ui.components.packed import component
from ui.wording.texts import say

# What the tour stops at, in the order of the page: the name of its text, and where it is.
STOPS = {
    "tour_text": ".st-key-live_text",
    "tour_correction": ".st-key-correction",
    "tour_heads": ".st-key-overview",
    "tour_map": ".st-key-map",
    "tour_picture": ".st-key-picture",
    "tour_views": ".st-key-tabs",
    "tour_pages": ".st-key-pages",
}
_FOLDER = Path(__file__).parent
_COMPONENT = component(
    "welcome",
    html='<div class="welcome"></div>',
    css=(_FOLDER / "welcome.css").read_text("utf-8"),
    js=(_FOLDER / "welcome.js").read_text("utf-8"),
)


def welcome() -> None:
    """Welcome whoever has not been here before; for others this draws nothing."""
    words = {name: say(f"tour_{name}") for name in ("welcome", "begin", "next", "end", "leave", "label")}
    stops = [{"place": place, "text": say(name)} for name, place in STOPS.items()]
    _COMPONENT(key="welcome", data={"words": words, "stops": stops})
