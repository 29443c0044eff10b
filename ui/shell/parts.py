"""Which part of a page a run draws: the whole page, or one fragment of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType

TEXT = "text"  # the fragment with the text and its pictures, see ``ui/look/text_part.py``
_TAKEN: ContextVar[bool] = ContextVar("taken_for_whole", default=False)


def runs_alone() -> bool:
    """Whether this run draws the text and its pictures, but not the rest of the page."""
    return any(part in _running() for part in _of_text())


def runs_another() -> bool:
    """Whether this run draws only a fragment in which the visitor neither types nor chooses, such as one that waits for the model."""
    return bool(_running()) and not runs_alone() and not _TAKEN.get()


@contextmanager
def taken_for_whole() -> Iterator[None]:
    """Inside, this run counts as one of the whole page, because its caller knows that the visitor typed or chose something."""
    before = _TAKEN.set(True)
    try:
        yield
    finally:
        _TAKEN.reset(before)


def start_over_if_outdated() -> None:
    """End this run if the visitor did something since it began. Streamlit itself ends a run of the whole page, wherever the session is
    looked into. It lets a fragment come to its end, so what is typed next would wait for a text and pictures that nobody wants any more.
    """
    _ = TEXT in st.session_state  # a look into the session
    context = get_script_run_ctx(suppress_warning=True)
    requests = context and context.fragment_ids_this_run and context.script_requests
    # Streamlit has no public way to ask whether a request waits.
    if requests and requests._state is ScriptRequestType.RERUN:
        st.rerun(scope="fragment")


def _running() -> list[str]:
    context = get_script_run_ctx(suppress_warning=True)
    return (context and context.fragment_ids_this_run) or []


def _of_text() -> list[str]:
    context = get_script_run_ctx(suppress_warning=True)
    try:
        return context.fragment_storage.resolve_target(TEXT) if context else []
    except StreamlitAPIException:  # this page has no such part
        return []
