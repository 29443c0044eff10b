"""Asks the network about a text while its visitor still pauses, so that the answer is there when the page runs.

The text area sends its text after a short pause in typing. Halfway through this pause it tells the text to a fragment
(``live_text.js``), which draws nothing and changes no setting; it only asks the engine. If the visitor types on, the work was for
nothing. So the whole server reads one text ahead at a time, and none while pages wait for their turn.
"""

from pathlib import Path

import streamlit as st

from ui.asking import loaders
from ui.components.component import heard
from ui.components.live_text import whole
from ui.shell import runs

LONGEST = 200  # characters; reading more takes longer than the rest of the pause
_KEY = "ahead"
_COMPONENT = st.components.v2.component("ahead", js=Path(__file__).with_suffix(".js").read_text("utf-8"))


@st.fragment
def listen(corrector: loaders.EngineCorrector) -> None:
    """Ask ``corrector`` about each text that the text area tells, until the page shows another model."""

    def ask() -> None:
        text = heard(_KEY, "text")
        if isinstance(text, str) and text.strip() and len(text) <= LONGEST and runs.TURNS.nobody_waits:
            corrector.correct_ahead(whole(text))

    _COMPONENT(key=_KEY, on_text_change=ask)
