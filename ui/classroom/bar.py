"""The line at the bottom of every page for whoever is in a classroom: how many are there, and the way to the class's page.

For the teacher it also tells the class what is shown: the page and its settings, whenever they have changed.
"""

from collections.abc import Callable

import streamlit as st

from classroom import ClassroomError, State
from classroom.codes import in_groups
from ui.asking import loaders
from ui.classroom import membership, pulse, watch
from ui.classroom.membership import Membership
from ui.shell import address, header
from ui.wording import say

_TOLD = "classroom_told"  # what the class was shown last
LAST = "classroom_last_page"  # the page that the teacher showed last


def show(page: str) -> None:
    """Draw the line, and tell the class what is shown. On the class's own page there is no line."""
    if page == membership.PAGE:
        return
    watch.forget()
    try:
        mine = membership.current()
        if mine is None:
            return
        if mine.teaches:
            _tell(mine, page)
    except ClassroomError:
        if st.button(say("class_over"), key="class_over", on_click=membership.leave):
            st.rerun()
        return
    membership.keep(mine)
    with st.container(key="class_bar", horizontal=True, vertical_alignment="center", gap="small"):
        pulse.listen(mine, _words(mine), follows=False)
        text = "class_bar_teacher" if mine.teaches else "class_bar_back"
        st.button(
            say(text),
            key="class_bar_open",
            icon=":material/groups:",
            on_click=header.turn_to,
            args=(membership.PAGE,),
        )


def _words(mine: Membership) -> Callable[[State], str]:
    def words(state: State) -> str:
        if not mine.teaches:
            asked = state.poll is not None or (state.quiz is not None and state.quiz.phase)
            return say("class_bar_asked" if asked else "class_bar_looking_around")
        return say("class_bar_count", code=in_groups(mine.code), count=max(0, state.present - 1))

    return words


def _tell(mine: Membership, page: str) -> None:
    """Tell the class what this page shows, if it has changed."""
    shown = page, address.shared("sentence")
    st.session_state[LAST] = page
    if st.session_state.get(_TOLD) == (mine.code, shown):
        return
    try:
        loaders.classrooms().show(mine.code, mine.key, *shown)
    except loaders.EngineError:  # the next run tells it
        return
    st.session_state[_TOLD] = mine.code, shown
