"""Cached access of pages to the engine, the models and their files; loading bar.

``engine`` gives the one engine of a server. It starts with the server (``ui/shell/server.py``), so its
workers load before the first page. The engine keeps the answers; only files that were read are kept here.
``list_entries`` finds the models: the shipped ones in ``assets/`` and those of the visitor in
``runs/*/model``, read again when their files change. ``wait_for`` waits for a model and shows how far it is
loaded. ``questions`` asks the opened models.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import streamlit as st

from classroom.store import AnyClassrooms
from engine.client import Engine, EngineCorrector, own_model
from engine.question import Asked
from engine.records import STAGES, EngineError, OwnModelError, Progress, version_on_disk
from model import Correction, ModelFolderError, SentenceCorrection
from model.stored.folder import (
    ASSETS,
    DEFAULT_MODEL,
    ModelEntry,
    model_folders,
    of_weights,
    read_entry,
)
from model.survey.results import (
    AGREEMENT_FILE,
    HEADS_FILE,
    CorpusAgreement,
    HeadSurvey,
    read_agreement,
    read_head_survey,
)
from model.trace.interventions import Projections
from model.trace.trace import Described
from ui.shell import runs
from ui.wording import say

STAGES_SHOWN = STAGES[:-1]  # each is the text ``loading_<stage>``; the last one is the end
_SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_IN_ONE_RUN = 6.0


class StillLoading(Exception):
    """The model ``corrector`` is still being loaded."""

    def __init__(self, corrector: EngineCorrector):
        super().__init__(corrector.name)
        self.corrector = corrector


def wait_for(corrector: EngineCorrector) -> bool:
    """Wait some seconds for this model and show how far it is loaded. Returns whether it is ready then.

    ``show_loading`` would take a second longer: it draws the page without an answer and then all of it again.
    The run ends here if the visitor does something meanwhile. Raises the errors of
    ``EngineCorrector.prepare``.
    """
    place, shown = st.empty(), None
    until = time.monotonic() + SECONDS_IN_ONE_RUN
    with runs.TURNS.aside():
        while not (progress := corrector.prepare()).is_ready and time.monotonic() < until:
            if (text := _loading_text(progress)) != shown:
                _loading_bar(progress, place)
            shown = text
            time.sleep(0.02)
    place.empty()
    return progress.is_ready


@st.fragment(run_every=_SECONDS_BETWEEN_LOOKS)
def show_loading(corrector: EngineCorrector) -> None:
    """Show how far the loading of this model is, and keep it up to date. At the end the page is run again.
    Looks every 0.5 seconds."""
    try:
        progress = corrector.prepare()
    except (EngineError, ModelFolderError):  # the page shows the error
        st.rerun()
    if progress.is_ready:
        st.rerun()
    _loading_bar(progress, st)


def _loading_bar(progress: Progress, place: Any) -> None:
    place.progress((progress.order + 0.5) / len(STAGES_SHOWN), _loading_text(progress))


def _loading_text(progress: Progress) -> str:
    return say(
        "loading",
        number=progress.order + 1,
        count=len(STAGES_SHOWN),
        stage=say(f"loading_{progress.stage}"),
        seconds=f"{progress.seconds:.0f}",
    )


# With the types that pages need, so that they find them in one place.
__all__ = [
    "ASSETS",
    "OWN_MODELS",
    "Asked",
    "Correction",
    "EngineCorrector",
    "EngineError",
    "ModelEntry",
    "NotLoadedError",
    "OwnModelError",
    "Projections",
    "SentenceCorrection",
    "StillLoading",
    "classrooms",
    "corpus_agreement",
    "described",
    "engine",
    "head_survey",
    "is_live",
    "is_shipped",
    "list_entries",
    "load_corrector",
    "model_id",
    "open_corrector",
    "positional_encoding",
]


class NotLoadedError(LookupError):
    """No network can answer this."""


AnySurvey = TypeVar("AnySurvey", HeadSurvey, CorpusAgreement)

SOON = 1.5  # seconds that a page waits for a model; a graph opens in less, so the page is drawn only once
OWN_MODELS = Path("runs")  # in the directory the app is run from


def list_entries() -> tuple[ModelEntry, ...]:
    """The model that ATTENTION_MODEL names, if it names one; the shipped models and the visitor's own ones,
    as they lie on disk now. Unreadable folders have a ``problem`` instead of raising ModelFolderError."""
    named = own_model()
    live = () if named is None else (ModelEntry(named, named, None, None),)
    folders = model_folders(ASSETS, OWN_MODELS)
    return (*live, *(_read_entry(str(folder), version_on_disk(folder)) for folder in folders))


def is_shipped(entry: ModelEntry) -> bool:
    """Whether its folder is one of ``assets``.

    >>> is_shipped(ModelEntry("transformer", ASSETS / "transformer", None, None))
    True
    """
    return isinstance(entry.path, Path) and entry.path.is_relative_to(ASSETS)


def is_live(entry: ModelEntry) -> bool:
    """Whether it is a ``model.TracedModel``, which has no files.

    >>> is_live(ModelEntry("package.module:factory", "package.module:factory", None, None))
    True
    """
    return isinstance(entry.path, str)


def described(corrector: Asked) -> Described | None:
    """The description that a visitor's own model brings; None for a shipped network."""
    return getattr(corrector.config, "described", None)


def corrects(corrector: Asked) -> bool:
    """Whether the model corrects. A visitor's own model may translate or continue a text."""
    told = described(corrector)
    return told is None or told.task == "correct"


def model_id(entry: ModelEntry) -> str:
    """The name of the model in a link. A user's own model may have the same folder name as a shipped one, so
    it gets another.

    >>> model_id(ModelEntry("transformer", "transformer", None, None))
    'transformer'
    """
    return entry.name if is_shipped(entry) or is_live(entry) else f"{OWN_MODELS}/{entry.name}"


@st.cache_resource(show_spinner=False, on_release=Engine.close)
def engine() -> Engine:
    """The one engine of this server. Its workers start at once and load the model of the first page. Raises
    EngineError where no worker starts."""
    found = Engine.from_environment([own_model() or ASSETS / DEFAULT_MODEL])
    found.while_waiting = runs.TURNS.aside
    return found


def classrooms() -> AnyClassrooms:
    """The classrooms of this server, wherever its page processes meet. Raises EngineError."""
    return engine().classrooms


def open_corrector(path: Path | str) -> EngineCorrector:
    """The model in this folder as its files are now, loaded or not.

    Raises model.ModelFolderError where the folder's description is missing or damaged.
    """
    return engine().open(path)


def load_corrector(path: Path | str) -> EngineCorrector:
    """The model in this folder, ready to answer.

    Raises StillLoading where that takes more than a moment, model.ModelFolderError where the folder is
    missing or damaged, and EngineError where no worker can be started.
    """
    corrector = open_corrector(path)
    begun = time.monotonic()
    while not corrector.prepare().is_ready:
        if time.monotonic() - begun > SOON:
            raise StillLoading(corrector)
        time.sleep(0.02)
    return corrector


def head_survey(path: Path | str, corrector: Asked) -> HeadSurvey | None:
    """The survey of the heads of the model in this folder; None if no file has these weights.

    Raises model.ModelFolderError for a damaged file.
    """
    return _of_these_weights(_read_survey, path, HEADS_FILE, corrector)


def corpus_agreement(path: Path | str, corrector: Asked) -> CorpusAgreement | None:
    """How well methods agreed over many edits of the model in this folder; None and errors as for
    ``head_survey``. Raises ModelFolderError for a damaged file."""
    return _of_these_weights(_read_agreement, path, AGREEMENT_FILE, corrector)


def _of_these_weights(
    read: Callable[[str, int], AnySurvey | None], path: Path | str, name: str, corrector: Asked
) -> AnySurvey | None:
    file = Path(path) / name
    found = read(str(path), file.stat().st_mtime_ns) if file.is_file() else None
    return found if found is not None and found.fingerprint == of_weights(corrector.fingerprint) else None


# Kept, because each keystroke would otherwise read all vocabularies again. Streamlit's own cache would hash
# and copy its values.
@lru_cache(maxsize=64)
def _read_entry(path: str, version: tuple) -> ModelEntry:
    return read_entry(Path(path))


@st.cache_resource(max_entries=4, show_spinner=False)
def _read_survey(path: str, version: int) -> HeadSurvey | None:
    return read_head_survey(Path(path))


@st.cache_resource(max_entries=4, show_spinner=False)
def _read_agreement(path: str, version: int) -> CorpusAgreement | None:
    return read_agreement(Path(path))


@st.cache_data(max_entries=8, show_spinner=False)
def positional_encoding(positions: int, d_model: int) -> np.ndarray:
    """(P, D) float32, without loading a model."""
    from model.activations.sublayers import positional_encoding as compute

    return compute(positions, d_model)
