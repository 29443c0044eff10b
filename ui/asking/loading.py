"""Waits for a model, and shows how far it is loaded."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import streamlit as st

from engine.errors import EngineError
from engine.progress import STAGES, Progress
from model import ModelFolderError
from ui.shell import turns
from ui.wording.texts import say

if TYPE_CHECKING:
    from engine import EngineCorrector

SHOWN = STAGES[:-1]  # each is the text ``loading_<stage>``; the last one is the end
_SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_IN_ONE_RUN = 6.0


class StillLoading(Exception):
    """The model ``corrector`` is still being loaded."""

    def __init__(self, corrector: EngineCorrector):
        super().__init__(corrector.name)
        self.corrector = corrector


def wait(corrector: EngineCorrector) -> bool:
    """Wait some seconds for this model and show how far it is loaded. Returns whether it is ready then.

    ``show`` would take a second longer: it draws the page without an answer and then all of it again. The run ends here if the visitor
    does something meanwhile. Raises what ``EngineCorrector.prepare`` raises.
    """
    place, shown = st.empty(), None
    until = time.monotonic() + SECONDS_IN_ONE_RUN
    with turns.TURNS.aside():
        while not (progress := corrector.prepare()).is_ready and time.monotonic() < until:
            if (text := _text(progress)) != shown:
                _bar(progress, place)
            shown = text
            time.sleep(0.02)
    place.empty()
    return progress.is_ready


@st.fragment(run_every=_SECONDS_BETWEEN_LOOKS)
def show(corrector: EngineCorrector) -> None:
    """Show how far the loading of this model is, and keep it up to date. At the end the page is run again."""
    try:
        progress = corrector.prepare()
    except (EngineError, ModelFolderError):  # the page says what is wrong
        st.rerun()
    if progress.is_ready:
        st.rerun()
    _bar(progress, st)


def _bar(progress: Progress, place: Any) -> None:
    place.progress((progress.order + 0.5) / len(SHOWN), _text(progress))


def _text(progress: Progress) -> str:
    return say(
        "loading",
        number=progress.order + 1,
        count=len(SHOWN),
        stage=say(f"loading_{progress.stage}"),
        seconds=f"{progress.seconds:.0f}",
    )
