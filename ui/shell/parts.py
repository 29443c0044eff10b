"""Which part of a page a run draws: the whole page, or one fragment of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx

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


def _running() -> list[str]:
    context = get_script_run_ctx(suppress_warning=True)
    return (context and context.fragment_ids_this_run) or []


def _of_text() -> list[str]:
    context = get_script_run_ctx(suppress_warning=True)
    try:
        return context.fragment_storage.resolve_target(TEXT) if context else []
    except StreamlitAPIException:  # this page has no such part
        return []
