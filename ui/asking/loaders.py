"""One function for each question that a page asks; pages reach the engine and the model only through here.

``engine`` gives the one engine of a server. The first run of ``app.py`` starts it, so its workers load beside the first page. The
engine keeps the answers; nothing is kept here. ``list_entries`` finds the models: the shipped ones in ``assets/`` and those of the
visitor in ``runs/*/model``, read again when their files change.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import streamlit as st

from classroom import AnyClassrooms
from engine import Engine, EngineCorrector, EngineError, OwnModelError, own_model
from engine.versions import version_on_disk
from model import Asked, Correction, SentenceCorrection
from model.stored.folder import (
    ASSETS,
    DEFAULT_MODEL,
    ModelEntry,
    model_folders,
    of_weights,
    read_entry,
)
from model.survey.corpus_agreement import AGREEMENT_FILE, CorpusAgreement, read_agreement
from model.survey.head_survey import HEADS_FILE, HeadSurvey, read_head_survey
from model.text.changes import Change
from model.trace.interventions import Head
from model.trace.projections import Projections
from ui.asking.loading import StillLoading
from ui.shell import turns

# The types are here for the pages, which import no engine.
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
    "circuit",
    "classrooms",
    "contributions",
    "corpus_agreement",
    "correct",
    "embeddings",
    "engine",
    "explained",
    "fix_without",
    "grown",
    "head_effects",
    "head_survey",
    "is_live",
    "is_shipped",
    "left_out",
    "list_entries",
    "load_corrector",
    "model_id",
    "open_corrector",
    "patch_map",
    "positional_encoding",
    "projections",
    "replaced",
    "road_not_taken",
    "when_decided",
    "who_wrote",
    "why_looked",
    "written_without",
]


class NotLoadedError(LookupError):
    """There is no network that could answer this."""


SOON = 1.5  # seconds that a page waits for a model; a graph opens in less, so the page is drawn only once
OWN_MODELS = Path("runs")  # in the directory the app is run from


def list_entries() -> tuple[ModelEntry, ...]:
    """The model that ATTENTION_MODEL names, if it names one; the shipped models and the visitor's own ones, as they
    lie on disk now."""
    named = own_model()
    live = () if named is None else (ModelEntry(named, named, None, None),)
    folders = model_folders(ASSETS, OWN_MODELS)
    return (*live, *(_read_entry(str(folder), version_on_disk(folder)) for folder in folders))


def is_shipped(entry: ModelEntry) -> bool:
    return isinstance(entry.path, Path) and entry.path.is_relative_to(ASSETS)


def is_live(entry: ModelEntry) -> bool:
    """Whether it is a ``model.TracedModel``, of which there are no files."""
    return isinstance(entry.path, str)


def corrects(config: object) -> bool:
    """Whether what a model writes is a correction: a model of one's own may say that it translates or goes on."""
    told = getattr(config, "described", None)
    return told is None or told.task == "correct"


def model_id(entry: ModelEntry) -> str:
    """The name of the model in a link. A user's own model may have the same folder name as a shipped one, so it gets another."""
    return entry.name if is_shipped(entry) or is_live(entry) else f"{OWN_MODELS}/{entry.name}"


@st.cache_resource(show_spinner=False, on_release=Engine.close)
def engine() -> Engine:
    """The one engine of this server. Its workers start at once and load the model of the first page."""
    found = Engine.from_environment([own_model() or ASSETS / DEFAULT_MODEL])
    found.while_waiting = turns.TURNS.aside
    return found


def classrooms() -> AnyClassrooms:
    """The classrooms of this server, wherever its page processes meet."""
    return engine().classrooms


def open_corrector(path: Path | str) -> EngineCorrector:
    """The model in this folder as its files are now, loaded or not.

    Raises model.ModelFolderError where the folder's description is missing or damaged.
    """
    return engine().open(path)


def load_corrector(path: Path | str) -> EngineCorrector:
    """The model in this folder, ready to answer.

    Raises StillLoading where that takes more than a moment, model.ModelFolderError where the folder is missing or damaged, and EngineError
    where no worker can be started.
    """
    corrector = open_corrector(path)
    begun = time.monotonic()
    while not corrector.prepare().is_ready:
        if time.monotonic() - begun > SOON:
            raise StillLoading(corrector)
        time.sleep(0.02)
    return corrector


def head_survey(path: Path | str, corrector: Asked) -> HeadSurvey | None:
    """The survey of the heads of the model in this folder; None if there is none for these weights.

    Raises model.ModelFolderError for a damaged file.
    """
    return _of_these_weights(_read_survey, path, HEADS_FILE, corrector)


def corpus_agreement(path: Path | str, corrector: Asked) -> CorpusAgreement | None:
    """How well methods agreed over many edits of the model in this folder; None and errors as for ``head_survey``."""
    return _of_these_weights(_read_agreement, path, AGREEMENT_FILE, corrector)


def _of_these_weights(read, path: Path | str, name: str, corrector: Asked):
    file = Path(path) / name
    found = read(str(path), file.stat().st_mtime_ns) if file.is_file() else None
    return found if found is not None and found.fingerprint == of_weights(corrector.fingerprint) else None


# What follows asks the network. Each raises NotLoadedError where there is none, and EngineError where no answer came;
# the next time it is asked again.


def correct(text: str, corrector: Asked) -> Correction:
    """The correction of ``text``."""
    return corrector.correct(text)


def projections(sentence: str, text: str, corrector: Asked, padding: int = 0) -> dict[str, Projections]:
    """What the attention of ``trace`` is computed from."""
    return corrector.ask("projections", sentence, text, padding)


def embeddings(text: str, corrector: Asked) -> np.ndarray:
    """(S, D) float32: the token embeddings of ``text`` and the end mark, not yet scaled."""
    return corrector.ask("embeddings", text)


def head_effects(
    sentence: SentenceCorrection,
    change: Change,
    corrector: Asked,
    means: Mapping[str, np.ndarray] | None,
):
    """What becomes of ``change`` without each head: ``model.analysis.head_effects.HeadEffects``. What a head puts
    out instead is of ``means``, by kind (L, H, D/H), else zero."""
    return corrector.ask("head_effects", sentence.source, sentence.text, _span(change), *_given(means))


def written_without(
    sentence: SentenceCorrection,
    sets: Iterable[Iterable[Head]],
    corrector: Asked,
    means: Mapping[str, np.ndarray] | None,
):
    """What is written without each of these sets of heads: ``model.analysis.head_effects.Without``; ``means`` as for
    ``head_effects``."""
    asked = tuple(tuple(map(tuple, heads)) for heads in sets)
    return corrector.ask("written_without", sentence.source, asked, *_given(means))


def fix_without(
    sentence: SentenceCorrection,
    change: Change,
    sets: Iterable[Iterable[Head]],
    corrector: Asked,
    means: Mapping[str, np.ndarray] | None,
) -> tuple[float, ...]:
    """How probable ``change`` is without each of these sets of heads; ``means`` as for ``head_effects``."""
    asked = tuple(tuple(map(tuple, heads)) for heads in sets)
    return corrector.ask("fix_without", sentence.source, sentence.text, _span(change), asked, *_given(means))


def contributions(sentence: SentenceCorrection, about: Change | int, corrector: Asked):
    """What the methods say about a change, or about what was written at a row: (row, all methods, the answers so far, a function
    that asks for more or None).

    It waits for the quick methods. The answers of the others are here if they were asked for before.
    """
    question = ("step_contributions", about) if isinstance(about, int) else ("contributions", _span(about))
    asked = question[0], sentence.source, sentence.text, question[1]
    row, methods, found = corrector.ask(*asked)
    for number in count(1):
        if len(found) == len(methods):
            return row, methods, found, None
        more = corrector.known(*asked, number)
        if more is None:
            return row, methods, found, partial(corrector.ask, *asked, number)
        found += more[-1]


def left_out(sentence: SentenceCorrection, change: Change, corrector: Asked):
    """What leaving out each token does to ``change``: the answer of one method, ``model.analysis.method.Contribution``."""
    return corrector.ask("left_out", sentence.source, sentence.text, _span(change))


def who_wrote(sentence: SentenceCorrection, corrector: Asked):
    """What each part of the decoder wrote, in every row and for every change: ``model.analysis.writing.Written``."""
    spans = tuple(map(_span, sentence.changes))
    return corrector.ask("who_wrote", sentence.source, sentence.text, spans)


def when_decided(sentence: SentenceCorrection, corrector: Asked):
    """What the network would say after each sub-layer: ``model.analysis.lenses.Decided``."""
    spans = tuple(map(_span, sentence.changes))
    return corrector.ask("when_decided", sentence.source, sentence.text, spans)


def patch_map(
    sentence: SentenceCorrection,
    change: Change,
    corrector: Asked,
    part: str,
    of: str,
    how: str,
    other: str = "",
):
    """What returns when places of this sentence are put into its twin: ``model.analysis.patching.PatchMap``; None where there is no twin."""
    return corrector.ask("patch_map", sentence.source, sentence.text, _span(change), part, of, how, other)


def circuit(sentence: SentenceCorrection, change: Change, corrector: Asked, percent: int, instead: str):
    """(circuit, edges, ask): the ``model.analysis.circuits.Circuit`` that keeps ``percent`` of the score of ``change``, and its edges.

    The circuit is None where there is no question to ask. Edges take long: they are None until ``ask`` was called. Where they are known,
    ``ask`` is None."""
    asked = sentence.source, sentence.text, _span(change), percent, instead
    if (both := corrector.known("circuit_edges", *asked)) is not None:
        return *both, None
    found = corrector.ask("circuit", *asked)
    return found, None, found and partial(corrector.ask, "circuit_edges", *asked)


def why_looked(
    sentence: SentenceCorrection, head: tuple[str, int, int], query: int, key: int, corrector: Asked
):
    """What one attention weight's query and key were made of: ``model.analysis.looks.Look``."""
    return corrector.ask("why_looked", sentence.source, sentence.text, tuple(head), query, key)


def explained(sentence: SentenceCorrection, change: Change, corrector: Asked):
    """What is claimed about ``change``, each claim with its receipt: ``model.analysis.receipts.Explanation``."""
    return corrector.ask("explained", sentence.source, sentence.text, _span(change))


def replaced(
    sentence: SentenceCorrection,
    change: Change,
    head: tuple[str, int, int],
    painted: tuple[int, ...],
    corrector: Asked,
):
    """(question, versions): what becomes of ``change`` with other weights in one head (``model.analysis.replacing``)."""
    return corrector.ask("replaced", sentence.source, sentence.text, _span(change), tuple(head), painted)


def road_not_taken(sentence: SentenceCorrection, row: int, candidate: str, corrector: Asked):
    """How the network goes on after ``candidate`` at ``row``: ``model.analysis.forks.Fork``."""
    return corrector.ask("road_not_taken", sentence.source, sentence.text, row, candidate)


def grown(text: str, corrector: EngineCorrector):
    """What each snapshot of the model makes of the first sentence: ``model.correction.growing.Grown``s."""
    return corrector.ask("grown", text)


def _given(means: Mapping[str, np.ndarray] | None) -> tuple:
    """The argument of a question; none if there are no means, because a user's own model takes none."""
    if not means:
        return ()
    return (tuple((kind, _nested(grid.tolist())) for kind, grid in means.items()),)


def _nested(values: object) -> object:
    return tuple(map(_nested, values)) if isinstance(values, list) else values


def _span(change: Change) -> tuple[int, int]:
    return change.source_start, change.source_end


# Kept, because each typed key would otherwise read all vocabularies again.
@st.cache_data(max_entries=64, show_spinner=False)
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
    from model.plain.positions import positional_encoding as compute

    return compute(positions, d_model)
