"""A text area whose text arrives while it is being typed, also while an input method composes a syllable."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

_FOLDER = Path(__file__).parent
_KEY = "live_text"
_COMPONENT = st.components.v2.component(
    "live_text",
    html='<label for="text"></label><textarea id="text" spellcheck="false" autocomplete="off"></textarea>',
    css=(_FOLDER / "live_text.css").read_text("utf-8"),
    js=(_FOLDER / "live_text.js").read_text("utf-8"),
)


def live_text(text: str, label: str, placeholder: str, longest: int, on_typed: Callable[[str], None]) -> None:
    """Show the text area; ``on_typed`` receives its text after each pause, before the page is run again.

    The browser's text leads. ``text`` fills the area when it is first shown and after ``replace``, at no
    other time: an answer that arrives late can neither lose a character nor move the cursor. The area
    holds at most ``longest`` UTF-16 units.
    """
    data = {
        "text": text,
        "revision": st.session_state.get("live_text_revision", 0),
        "label": label,
        "placeholder": placeholder,
        "longest": longest,
    }
    _COMPONENT(key=_KEY, data=data, on_text_change=lambda: on_typed(st.session_state[_KEY]["text"]))


def replace() -> None:
    """Make the next ``live_text`` overwrite what the area holds with its ``text``."""
    st.session_state["live_text_revision"] = st.session_state.get("live_text_revision", 0) + 1
