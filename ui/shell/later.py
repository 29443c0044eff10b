"""What a page asks once it has been drawn and its address is published: it is drawn anew with the answer."""

from collections.abc import Callable

import streamlit as st

_QUESTION = "asked_later"


def ask(question: Callable[[], object]) -> None:
    """Ask this behind the page. The engine keeps the answer, and so the next run finds it."""
    st.session_state[_QUESTION] = question


def forget() -> None:
    """What an earlier run left that was ended before its time."""
    st.session_state.pop(_QUESTION, None)


def go_on() -> None:
    """Ask what this run left for later, if anything, and run the page again."""
    question = st.session_state.get(_QUESTION)
    if question is None:
        return
    question()
    forget()  # whatever the visitor did meanwhile ends this run here, for it looks into the session
    st.rerun()
