"""What a key draws: the text, its correction and its pictures, and nothing else of the main page.

Of the fifty messages of a run thirty tell the browser what it shows already: the top line, tabs, switches, closed popovers. They are half
of what a page costs. So what hangs on the text is a fragment of Streamlit. Its run draws nothing else, if the rest of the page would look
the same: no setting was changed but the text, and the pictures have the same controls as before. Else the whole page runs.
"""

from collections.abc import Callable, Hashable

import streamlit as st

from ui.shell import address, header, later, notices, turns
from ui.shell.parts import TEXT, runs_alone

_REST = "drawn_beside_the_text"  # for which settings and which pictures the rest of the page was drawn


@st.fragment(key=TEXT)
def show(write: Callable[[], Hashable | None], draw: Callable[[], None]) -> None:
    """``write`` the text, and ``draw`` its pictures. ``write`` returns what the rest of the page shows of them; None where there are none."""
    if not runs_alone():
        with notices.page():
            write()
            draw()
        address.publish("")
        return
    with turns.taken():
        rest = st.session_state.get(_REST)
        if rest is None or rest[0] != _settings() or header.is_left():
            st.rerun()
        later.forget()
        with notices.page():
            if write() != rest[1]:
                st.rerun()
            draw()
        address.publish("")
    with notices.page():
        later.go_on()


def rest_is_drawn(told: Hashable | None) -> None:
    """The rest of the page stands, for what ``write`` returned; None where it changes with every text, as an open list of options does."""
    st.session_state[_REST] = None if told is None else (_settings(), told)


def _settings() -> dict[str, str]:
    return {name: value for name, value in address.told().items() if name != "sentence"}
