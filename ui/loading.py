"""Work that takes seconds, done in a thread of its own while the page stays alive and says how far it is."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Generic, TypeVar

import streamlit as st

from ui.texts import say

STAGES = ("library", "weights", "first_run")  # in their order; each is the text ``loading_<stage>``
_SECONDS_BETWEEN_LOOKS = 0.5
_HEAD_START = 2.5  # seconds that a browser on the same 2 cores needs for the first page with its figures

_logger = logging.getLogger(__name__)

Result = TypeVar("Result")


class Loading(Generic[Result]):
    """One piece of work: ``work(reached)`` names each of STAGES as it gets there, and returns the result."""

    def __init__(self, work: Callable[[Callable[[str], None]], Result]):
        self.stage = STAGES[0]
        self._asked = time.monotonic()
        self._work, self._future = work, Future()
        self._thread = Thread(target=self._run, daemon=True)  # whoever stops the server need not wait for it
        self._first = Lock()

    def begin(self) -> None:
        """Start the work, unless it was started before."""
        if self._first.acquire(blocking=False):
            self._thread.start()

    @property
    def has_begun(self) -> bool:
        return self._first.locked()

    @property
    def is_over(self) -> bool:
        return self._future.done()

    @property
    def seconds(self) -> float:
        """Since it was asked for."""
        return time.monotonic() - self._asked

    def result(self) -> Result:
        """Waits for the end of the work; raises what the work raised."""
        self.begin()
        return self._future.result()

    def _run(self) -> None:
        try:
            self._future.set_result(self._work(self._reach))
        except Exception as error:
            _logger.exception("loading failed while at %s", self.stage)
            self._future.set_exception(error)

    def _reach(self, stage: str) -> None:
        if stage not in STAGES:
            raise ValueError(f"no stage {stage!r}, there are {STAGES}")
        self.stage = stage


class StillLoading(Exception):
    """What was asked for is not there yet; ``loading`` knows how far it is."""

    def __init__(self, loading: Loading):
        super().__init__(loading.stage)
        self.loading = loading


@st.fragment(run_every=_SECONDS_BETWEEN_LOOKS)
def show(loading: Loading) -> None:
    """How far ``loading`` is, kept up to date; at its end the page is run again.

    Work that nobody has begun is begun here once the page beside this has been drawn, which would take twice
    as long during the import of TensorFlow.
    """
    if loading.is_over:
        st.rerun()
    if loading.seconds > _HEAD_START:
        loading.begin()
    number = STAGES.index(loading.stage)
    text = say(
        "loading",
        number=number + 1,
        count=len(STAGES),
        stage=say(f"loading_{STAGES[number]}"),
        seconds=f"{loading.seconds:.0f}",
    )
    st.progress((number + 0.5) / len(STAGES), text)
