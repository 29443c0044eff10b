"""Text area that sends its text while it is typed, also during input-method composition.

The text in the browser always wins over Python's. In a session's first run it may differ from the address:
the browser may come from a page process that has ended. If no answer comes for three seconds, the area says
so by itself.
"""

import re
import time
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from ui.components.component import component, heard

_HALF = re.compile("[\ud800-\udfff]")
_FOLDER = Path(__file__).parent
_KEY = "live_text"
_REVISION, _IS_KNOWN = "live_text_revision", "live_text_is_known"
_COMPONENT = component(
    "live_text",
    html=(
        '<label for="text"></label><div class="area">'
        '<textarea id="text" spellcheck="false" autocomplete="off"></textarea><output for="text"></output>'
        '</div><p role="status"></p><pre></pre>'
    ),
    css=(_FOLDER / "live_text.css").read_text("utf-8"),
    js=(_FOLDER / "live_text.js").read_text("utf-8"),
    sent_once=True,
)


def live_text(text: str, words: dict[str, str], longest: int, on_typed: Callable[[str], None]) -> None:
    """Show the text area. ``on_typed`` gets its text after each pause before the page runs again, and in a
    session's first run if the browser holds another text than ``text``.

    The browser's text always wins. ``text`` fills the area when it is first shown and after ``replace``, and
    at no other time. So a late answer can neither lose a character nor move the cursor. The area holds at
    most ``longest`` UTF-16 units. ``words`` are its "label", "placeholder", and "waiting", shown if the page
    has not answered for long, and "limit", the characters that are read, beside which the count stands.

    The pause is 0.2 seconds, the wait 3 seconds.
    """
    data = {"text": text, "revision": st.session_state.get(_REVISION, 0), "longest": longest} | words

    def answer() -> None:
        typed = heard(_KEY, "text")
        if isinstance(typed, str):
            on_typed(whole(typed))

    held = _COMPONENT(key=_KEY, data=data, on_text_change=answer)
    if _IS_KNOWN not in st.session_state:
        # If a page process ends, the browser brings its text to a new session, to which it is no change.
        st.session_state[_IS_KNOWN] = True
        typed = getattr(held, "text", None)  # no component answers without a server
        if isinstance(typed, str) and typed != text:
            on_typed(whole(typed))


def whole(text: str) -> str:
    """``text`` with U+FFFD for each half of a surrogate pair: a browser may hold one, and no page can be sent
    one.

    >>> whole(chr(0xD83D)) == chr(0xFFFD)
    True
    """
    return _HALF.sub("\ufffd", text)


def replace() -> None:
    """Make the next ``live_text`` overwrite the area with its ``text``."""
    # A time and not a counter: in a new session a counter might have the same value again.
    st.session_state[_REVISION] = time.time_ns() // 1_000_000
