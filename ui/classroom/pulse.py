"""The browser's beats: each says that somebody is still there, and draws one line about the classroom.

A beat costs the server some four milliseconds, so a phone's are seldom: it is woken when something changes (``watch.py``). Where that
is missed, the next beat draws what is new.
"""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from classroom import ClassroomError, State
from ui.asking import loaders
from ui.classroom import membership, watch
from ui.classroom.membership import Membership
from ui.components.component import component
from ui.shell import markup
from ui.wording import say

# Milliseconds between two beats: of the teacher, who counts answers, and of a phone.
SOON, SELDOM = (
    1000,
    5000,
)
SHOWN = "classroom_shown"  # the key of the fragment that shows what is new
_KEY = "classroom_pulse"
_DRAWN = "classroom_drawn"  # the version that this session has drawn
_HEARD = "classroom_heard"  # what the last beat heard, until it is drawn
_COMPONENT = component("classroom_pulse", js=Path(__file__).with_name("pulse.js").read_text("utf-8"))


def drawn(mine: Membership, state: State) -> None:
    """Remember that this state is on the screen, and wait for another one."""
    st.session_state[_DRAWN] = state.version
    watch.wait(mine.code, state.version, SHOWN)


def every(mine: Membership) -> int:
    """Milliseconds between two beats."""
    return SOON if mine.teaches or not watch.can_wake() else SELDOM


def draw_again() -> None:
    """The screen shows only a placeholder, so draw again at the next beat."""
    st.session_state[_DRAWN] = None


@st.fragment
def listen(mine: Membership, told: Callable[[State], str], follows: bool) -> None:
    """One line about the classroom, which ``told`` words. With ``follows`` the fragment SHOWN is drawn again after each change."""

    def beat() -> None:
        try:
            state = st.session_state[_HEARD] = mine.state()
            news = state.version != st.session_state.get(_DRAWN)
        except ClassroomError:
            membership.forget_seat()
            st.rerun()  # it is over, which the whole page says
        except loaders.EngineError:
            return  # the next beat may be answered
        if news and follows:
            st.rerun(SHOWN)

    _COMPONENT(key=_KEY, data={"every": every(mine)}, on_beat_change=beat)
    try:
        markup.paragraph(told(st.session_state.pop(_HEARD, None) or mine.state()), "class-count")
    except (ClassroomError, loaders.EngineError):
        markup.paragraph(say("class_silent"), "class-count")
