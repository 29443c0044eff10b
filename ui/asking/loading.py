"""Shows how far a model is loaded, and runs the page again when it is ready."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from engine.errors import EngineError
from engine.progress import STAGES, Progress
from model import ModelFolderError
from ui.wording.texts import say

if TYPE_CHECKING:
    from engine import EngineCorrector

SHOWN = STAGES[:-1]  # each is the text ``loading_<stage>``; the last one is the end
_SECONDS_BETWEEN_LOOKS = 0.5


class StillLoading(Exception):
    """The model ``corrector`` is still being loaded."""

    def __init__(self, corrector: EngineCorrector):
        super().__init__(corrector.name)
        self.corrector = corrector


@st.fragment(run_every=_SECONDS_BETWEEN_LOOKS)
def show(corrector: EngineCorrector) -> None:
    """Show how far the loading of this model is, and keep it up to date. At the end the page is run again."""
    try:
        progress = corrector.prepare()
    except (EngineError, ModelFolderError):  # the page says what is wrong
        st.rerun()
    if progress.is_ready:
        st.rerun()
    st.progress((progress.order + 0.5) / len(SHOWN), _text(progress))


def _text(progress: Progress) -> str:
    return say(
        "loading",
        number=progress.order + 1,
        count=len(SHOWN),
        stage=say(f"loading_{progress.stage}"),
        seconds=f"{progress.seconds:.0f}",
    )
