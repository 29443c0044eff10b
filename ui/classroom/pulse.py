"""Hears of changes in the classroom: the browser asks once a second, and a page is drawn again only if something has changed.

A beat without news draws one line and costs the server some three milliseconds; a whole page would be ten times as much.
"""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from classroom import ClassroomError, State
from ui.asking import loaders
from ui.classroom.membership import Membership
from ui.shell import markup
from ui.wording.texts import say

SOON, SELDOM = 1000, 4000  # milliseconds between two beats: on the class's page, and on others
SHOWN = "classroom_shown"  # the key of the fragment that shows what is new
_KEY = "classroom_pulse"
_DRAWN = "classroom_drawn"  # the version that this session has drawn
_HEARD = "classroom_heard"  # what the last beat heard, until it is drawn
_COMPONENT = st.components.v2.component(
    "classroom_pulse", js=Path(__file__).with_name("pulse.js").read_text("utf-8")
)


def drawn(state: State) -> None:
    """Remember that this state is on the screen."""
    st.session_state[_DRAWN] = state.version


def draw_again() -> None:
    """What is on the screen stands in for something: draw anew at the next beat."""
    st.session_state[_DRAWN] = None


@st.fragment
def listen(mine: Membership, every: int, told: Callable[[State], str], follows: bool) -> None:
    """One line about the classroom, which ``told`` words. With ``follows`` the fragment SHOWN is drawn again after each change."""

    def beat() -> None:
        try:
            state = st.session_state[_HEARD] = mine.state()
            news = state.version != st.session_state.get(_DRAWN)
        except ClassroomError:  # it is over, which the whole page says
            st.rerun()
        except loaders.EngineError:
            return  # the next beat may be answered
        if news and follows:
            st.rerun(SHOWN)

    _COMPONENT(key=_KEY, data={"every": every}, on_beat_change=beat)
    try:
        markup.paragraph(told(st.session_state.pop(_HEARD, None) or mine.state()), "class-count")
    except (ClassroomError, loaders.EngineError):
        markup.paragraph(say("class_silent"), "class-count")
