"""The models and their answers, kept between runs of a page; pages reach the model only through here."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from threading import Thread, main_thread

import numpy as np
import streamlit as st

from engine.versions import version_on_disk
from model import Correction, Corrector, SentenceCorrection
from model.changes import Change, find_changes
from model.folder import ASSETS, ModelEntry, ModelFolderError, model_folders, read_entry
from model.projections import Projections
from model.remembered import NotRememberedError, Remembered
from model.remembered import recall as read_remembered
from ui.loading import Loading, StillLoading

# The types are here for the pages, which import no model.
__all__ = [
    "ASSETS",
    "OWN_MODELS",
    "Correction",
    "Corrector",
    "ModelEntry",
    "NotRememberedError",
    "Projections",
    "Remembered",
    "SentenceCorrection",
    "StillLoading",
    "contributions",
    "correct",
    "embeddings",
    "forget",
    "head_effects",
    "is_shipped",
    "list_entries",
    "load_corrector",
    "model_id",
    "positional_encoding",
    "projections",
    "recall",
    "replaced",
    "road_not_taken",
    "start_loading",
    "version_on_disk",
    "written_without",
]

OWN_MODELS = Path("runs")  # in the directory the app is run from


def list_entries() -> tuple[ModelEntry, ...]:
    """The shipped models and the visitor's own ones, as they lie on disk now."""
    folders = model_folders(ASSETS, OWN_MODELS)
    return tuple(_read_entry(str(folder), version_on_disk(folder)) for folder in folders)


def is_shipped(entry: ModelEntry) -> bool:
    return entry.path.is_relative_to(ASSETS)


def model_id(entry: ModelEntry) -> str:
    """What a link calls the model: an own one may be named like a shipped one."""
    return entry.name if is_shipped(entry) else f"{OWN_MODELS}/{entry.name}"


def load_corrector(path: Path) -> Corrector:
    """The model in this folder, read again when its files have changed.

    Raises StillLoading until it is ready, and model.ModelFolderError where the folder is missing or damaged.
    """
    loading = start_loading(path)
    if not loading.is_over:
        raise StillLoading(loading)
    return loading.result()


def start_loading(path: Path) -> Loading[Corrector]:
    """The model in this folder on its way into memory; the same one for everybody who asks."""
    return _start_loading(str(path), version_on_disk(path))


def recall(path: Path) -> Remembered | None:
    """The one answer that is known before the model in this folder is ready; None where there is none."""
    return _recall(str(path), version_on_disk(path))


def correct(text: str, corrector: Corrector | Remembered) -> Correction:
    """The correction of ``text``, from memory where this model has met the text before.

    This and what follows raise NotRememberedError where the answer needs more than what is remembered.
    """
    return _correct(text, corrector.fingerprint, corrector)


def projections(sentence: str, text: str, corrector: Corrector, padding: int = 0) -> dict[str, Projections]:
    """What the attention of ``trace`` is computed from."""
    return _projections(sentence, text, padding, corrector.fingerprint, corrector)


def embeddings(text: str, corrector: Corrector) -> np.ndarray:
    """(S, D) float32: the token embeddings of ``text`` and the end mark, not yet scaled."""
    return _embeddings(text, corrector.fingerprint, corrector)


def head_effects(sentence: SentenceCorrection, change: Change, corrector: Corrector | Remembered):
    """What becomes of ``change`` without each head (``model.analysis.head_effects``)."""
    span = (change.source_start, change.source_end)
    return _head_effects(sentence.source, sentence.text, span, corrector.fingerprint, corrector)


def written_without(sentence: SentenceCorrection, heads: tuple, corrector: Corrector):
    """What is written without each of ``heads``, and without all of them."""
    return _written_without(sentence.source, tuple(map(tuple, heads)), corrector.fingerprint, corrector)


def contributions(sentence: SentenceCorrection, change: Change, corrector: Corrector | Remembered):
    """(row, [(contribution, agreement with the reference or None for the reference itself), …])."""
    span = (change.source_start, change.source_end)
    return _contributions(sentence.source, sentence.text, span, corrector.fingerprint, corrector)


def replaced(
    sentence: SentenceCorrection,
    change: Change,
    head: tuple[str, int, int],
    painted: tuple[int, ...],
    corrector: Corrector | Remembered,
):
    """(question, versions): what becomes of ``change`` with other weights in one head (``model.analysis.replacing``)."""
    span = (change.source_start, change.source_end)
    place = sentence.source, sentence.text, span
    return _replaced(*place, tuple(head), painted, corrector.fingerprint, corrector)


def road_not_taken(sentence: SentenceCorrection, row: int, candidate: str, corrector: Corrector | Remembered):
    """How the network goes on after ``candidate`` at ``row`` (``model.analysis.forks``)."""
    return _road_not_taken(sentence.source, sentence.text, row, candidate, corrector.fingerprint, corrector)


def forget() -> None:
    """Drop all answers; the models stay."""
    experiments = (_head_effects, _written_without, _contributions, _replaced, _road_not_taken)
    for answers in (_correct, _projections, _embeddings, *experiments):
        answers.clear()


# A correction holds the attention of its sentences: 64 of 40 characters take some 50 MB.
@st.cache_resource(max_entries=64, show_spinner=False)
def _correct(text: str, fingerprint: str, _corrector: Corrector) -> Correction:
    return _corrector.correct(text)


@st.cache_data(max_entries=8, show_spinner=False)
def _projections(sentence: str, text: str, padding: int, fingerprint: str, _corrector: Corrector):
    return _corrector.projections(sentence, text, padding)


def _asked(source: str, text: str, span: tuple[int, int], corrector: Corrector | Remembered) -> Change:
    """The change of these texts at ``span``; only a network itself can be asked what would be if."""
    if isinstance(corrector, Remembered):
        raise NotRememberedError(f"no network is there yet to be asked about {source!r}")
    return next(each for each in find_changes(source, text) if (each.source_start, each.source_end) == span)


@st.cache_data(max_entries=16, show_spinner=False)
def _head_effects(source: str, text: str, span: tuple[int, int], fingerprint: str, _corrector: Corrector):
    from model.analysis.head_effects import head_effects as compute

    return compute(_corrector, source, text, _asked(source, text, span, _corrector))


@st.cache_data(max_entries=16, show_spinner=False)
def _written_without(source: str, heads: tuple, fingerprint: str, _corrector: Corrector):
    from model.analysis.head_effects import written_without as compute
    from model.interventions import Head

    named = [Head(*head) for head in heads]
    return compute(_corrector, source, [*([head] for head in named), named])


@st.cache_data(max_entries=16, show_spinner=False)
def _contributions(source: str, text: str, span: tuple[int, int], fingerprint: str, _corrector: Corrector):
    from model.analysis.contributions import REFERENCE, agreement
    from model.analysis.contributions import contributions as compute
    from model.analysis.questions import question_of_change

    question = question_of_change(_corrector, source, text, _asked(source, text, span, _corrector))
    found = {each.method: each for each in compute(_corrector, source, text, question)}
    reference = found.pop(REFERENCE)
    compared = [(each, agreement(each, reference)) for each in found.values()]
    return question.row, [(reference, None), *compared]


@st.cache_data(max_entries=16, show_spinner=False)
def _replaced(
    source: str,
    text: str,
    span: tuple[int, int],
    head: tuple,
    painted: tuple,
    fingerprint: str,
    _corrector: Corrector,
):
    from model.analysis.replacing import replaced_for_change
    from model.interventions import Head

    change = _asked(source, text, span, _corrector)
    return replaced_for_change(_corrector, source, text, change, Head(*head), painted)


@st.cache_data(max_entries=16, show_spinner=False)
def _road_not_taken(
    source: str, text: str, row: int, candidate: str, fingerprint: str, _corrector: Corrector
):
    from model.analysis.forks import road_not_taken as compute

    if isinstance(_corrector, Remembered):
        raise NotRememberedError(f"no network is there yet to be asked about {source!r}")
    return compute(_corrector, source, text, row, candidate)


@st.cache_data(max_entries=8, show_spinner=False)
def _embeddings(text: str, fingerprint: str, _corrector: Corrector) -> np.ndarray:
    return _corrector.embeddings(text)


# Not every key that is typed shall read all vocabularies.
@st.cache_data(max_entries=64, show_spinner=False)
def _read_entry(path: str, version: tuple) -> ModelEntry:
    return read_entry(Path(path))


# A correction holds on to its model: without its release, a model could not leave the memory.
@st.cache_resource(max_entries=4, show_spinner=False, on_release=lambda _: forget())
def _start_loading(path: str, version: tuple) -> Loading[Corrector]:
    return Loading(lambda reached: _load(path, reached))


def _load(path: str, reached: Callable[[str], None]) -> Corrector:
    reached("library")
    import_module("model.network")  # TensorFlow
    _keep_compiled_kernels()
    reached("weights")
    corrector = Corrector.load(path)
    reached("first_run")
    compiling = corrector.warm_up()
    next(compiling, None)
    # Meanwhile there are answers, only slower. Not a daemon, as this thread itself is: see _finish.
    Thread(target=_finish, args=(compiling,), daemon=False).start()
    return corrector


def _finish(compiling: Iterator[float]) -> None:
    """All of it, or up to the next length where the server is being stopped: Python would end a daemon thread inside
    TensorFlow, which then aborts the process."""
    for _ in compiling:
        if not main_thread().is_alive():
            return


@st.cache_resource(max_entries=4, show_spinner=False)
def _recall(path: str, version: tuple) -> Remembered | None:
    try:
        return read_remembered(Path(path))
    except ModelFolderError:  # the network itself gives the same answer a little later
        return None


def _keep_compiled_kernels() -> None:
    """Take ``keras.backend.clear_session`` away from Streamlit, which calls it after each run of a script
    (``script_runner._clean_problem_modules``): it empties TensorFlow's cache of kernels, so that each
    compiled function would be set up anew for every sentence, 0.6 to 1 s each on 2 cores."""
    sys.modules["keras"].backend.clear_session = lambda free_memory=True: None


@st.cache_data(max_entries=8, show_spinner=False)
def positional_encoding(positions: int, d_model: int) -> np.ndarray:
    """(P, D) float32, without loading a model."""
    from model.positions import positional_encoding as compute

    return compute(positions, d_model)
