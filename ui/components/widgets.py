"""Small components: a copy button, tabs kept in sight, a welcome with a tour.

``copy_button`` copies a text, such as a link. ``keep_in_sight`` keeps the open tab in sight where the line of
tabs is longer than its place, as on a phone, and shows others when an arrow is pressed. ``welcome`` greets a
first visitor and offers a tour of the page that may be left at any point. The browser remembers that it was
seen.
"""

from pathlib import Path

from ui.components.component import component
from ui.wording import say
from viz.browser.document import read_script

_FOLDER = Path(__file__).parent
_COPYING = read_script("copy_button", "copying.js", "copy_button.js", folder=_FOLDER)
_COPY = component("copy_button", html='<button type="button"></button>', css=_COPYING.css, js=_COPYING.js)


def copy_button(text: str, label: str, key: str) -> None:
    """A button called ``label`` that copies ``text``."""
    _COPY(key=key, data={"text": text, "label": label, "done": say("copied")})


_TABS = component("tabs", js=Path(__file__).with_name("tabs.js").read_text("utf-8"))


def keep_in_sight(view: str) -> None:
    """Call this after the tabs. ``view`` is the open one. It draws nothing itself."""
    _TABS(key="tab_in_sight", data={"view": view})


# The stops of the tour: the name of its text, its place, and a control that is pressed on the way to it.
STOPS: dict[str, tuple[str, str]] = {
    "tour_correction": (".st-key-correction", ".st-key-correction .change[aria-pressed=true]"),
    "tour_picture": (".st-key-picture", ".st-key-correction .close"),
    "tour_heads": (".st-key-overview", ""),
    "tour_off": (".st-key-more", ""),
}
LAST_PRESSED = ".st-key-head_off button"  # where the tour ends
_TOUR = read_script("welcome", "dom.js", "welcome.js", folder=_FOLDER)
_WELCOME = component("welcome", html=_TOUR.html, css=_TOUR.css, js=_TOUR.js)


def welcome() -> None:
    """Welcome a first visitor; for others this draws nothing."""
    words = {name: say(f"tour_{name}") for name in ("welcome", "begin", "next", "end", "leave", "label")}
    stops = [
        {"place": place, "pressed": pressed, "text": say(name)} for name, (place, pressed) in STOPS.items()
    ]
    _WELCOME(key="welcome", data={"words": words, "stops": stops, "last": LAST_PRESSED})
