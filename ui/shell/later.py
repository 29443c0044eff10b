"""Questions that a page asks only after it has been drawn. Then it runs again and finds the answers in the engine's cache.

The view *from what* asks the quick methods, draws empty places for the slow ones, and leaves these for later; the view *circuit* does so
with its edges. What the visitor does meanwhile comes first.
"""

from collections.abc import Callable

import streamlit as st

_QUESTION = "asked_later"


def ask(question: Callable[[], object]) -> None:
    """Ask this after the page is drawn. The engine keeps the answer, and the next run finds it."""
    st.session_state[_QUESTION] = question


def forget() -> None:
    """Forget the questions of a run that was ended before it could ask them."""
    st.session_state.pop(_QUESTION, None)


def go_on() -> None:
    """Ask what this run left for later, if anything, and run the page again."""
    question = st.session_state.get(_QUESTION)
    if question is None:
        return
    question()
    forget()  # looks into the session: there Streamlit ends this run if the visitor did something meanwhile
    st.rerun()
