"""Has the network read a text in the pause after which it is sent, so that its answer is there when the page is run.

Halfway through the pause the text area tells the text to a fragment (``live_text.js``). That fragment draws nothing: it
only asks. A text that is typed on has then been read for nothing, so one is read at a time on the whole server, and none
while other pages wait for their turn.
"""

from pathlib import Path

import streamlit as st

from ui.asking import loaders
from ui.components.heard import heard
from ui.components.live_text import whole
from ui.shell import turns

LONGEST = 200  # characters; reading more takes longer than the rest of the pause
_KEY = "ahead"
_COMPONENT = st.components.v2.component("ahead", js=Path(__file__).with_suffix(".js").read_text("utf-8"))


@st.fragment
def listen(corrector: loaders.EngineCorrector) -> None:
    """Ask ``corrector`` for what the text area tells, from now until the page shows another model."""

    def ask() -> None:
        text = heard(_KEY, "text")
        if isinstance(text, str) and text.strip() and len(text) <= LONGEST and turns.TURNS.nobody_waits:
            corrector.correct_ahead(whole(text))

    _COMPONENT(key=_KEY, on_text_change=ask)
