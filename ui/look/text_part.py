"""The part of the main page that is drawn at each keystroke: the text, its correction and its pictures.

A run of the whole page sends fifty messages. Thirty of them repeat what the browser already shows: the top line, tabs, switches, closed
popovers. They are half of what a page costs. So everything that depends on the text is a fragment of Streamlit, which runs alone if the
rest of the page would look the same: only the text was changed, and the pictures have the same controls. Otherwise the whole page runs.
"""

from collections.abc import Callable, Hashable

import streamlit as st

from ui.asking import models
from ui.shell import address, header, runs
from ui.shell.runs import TEXT_FRAGMENT, runs_alone

_REST = "drawn_beside_the_text"  # the settings and the pictures for which the rest of the page was drawn last


@st.fragment(key=TEXT_FRAGMENT)
def show(write: Callable[[], Hashable | None], draw: Callable[[], None]) -> None:
    """``write`` the text, and ``draw`` its pictures.

    ``write`` returns what the rest of the page depends on; None if there are no pictures.
    """
    if not runs_alone():
        with models.error_shown():
            write()
            draw()
        address.publish("")
        return
    with runs.taken():
        rest = st.session_state.get(_REST)
        if rest is None or rest[0] != _settings() or header.is_left():
            st.rerun()
        runs.drop_questions()
        with models.error_shown():
            if write() != rest[1]:
                st.rerun()
            draw()
        address.publish("")
    with models.error_shown():
        runs.ask_rest()


def rest_is_drawn(told: Hashable | None) -> None:
    """Remember that the rest of the page is drawn for ``told``, which ``write`` returned.

    None says that the rest changes with every text, as an open list of options does. Then each keystroke redraws the whole page.
    """
    st.session_state[_REST] = None if told is None else (_settings(), told)


def _settings() -> dict[str, str]:
    return {name: value for name, value in address.told().items() if name != "sentence"}
