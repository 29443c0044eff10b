"""Shows a note while something takes long. It costs nothing if the work is quick.

``st.spinner`` starts a thread each time, even if it is never seen. On a page that is drawn at each keystroke that took a tenth of the time
until the corrected text appeared.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from threading import Event, Lock, Thread

import streamlit as st
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

SLOW = 0.4  # seconds; Streamlit waits a tenth of a second more
_WATCHES = ThreadPoolExecutor(max_workers=32, thread_name_prefix="spinner")  # kept from one work to the next


@contextmanager
def spinner(text: str) -> Iterator[None]:
    """Show ``text`` and a turning sign here from SLOW seconds on, until the work inside is done."""
    done, telling = Event(), Lock()

    def show() -> None:
        with st.spinner(text):
            done.wait()

    # The copied context holds the container in which the page is drawing.
    note = add_script_run_ctx(Thread(target=copy_context().run, args=(show,)), get_script_run_ctx())

    def watch() -> None:
        if done.wait(SLOW):
            return
        with telling:
            if not done.is_set():
                note.start()
                note.join()

    watching = _WATCHES.submit(watch)
    try:
        yield
    finally:
        done.set()
        if telling.locked():
            watching.result()  # the note has to be taken away before the page draws what comes next
