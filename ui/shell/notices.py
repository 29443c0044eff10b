"""Tells the visitor what is wrong: with the input, with the model, or with the engine."""

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from engine.errors import EngineBusyError, EngineSlowError, LibraryMissingError
from model.text.hangul import is_hangul
from model.text.sentences import split_sentences
from ui.asking import loaders, loading, models
from ui.asking.jobs import AnyJob, Jobs, TooManyRowsError
from ui.components.correction import LEAST_OFFERED
from ui.parts.uploads import DroppedFile
from ui.shell import markup
from ui.wording.texts import say


def load_corrector(entry: loaders.ModelEntry | None) -> loaders.EngineCorrector | None:
    """The model. None while it is being loaded, and how far that is; None, and a message, where there is nothing to be used."""
    from model import ModelFolderError

    if entry is None:
        st.error(say("model_folder_error"))
        return None
    try:
        return _ready(entry)
    except ModelFolderError as error:
        st.error(say("model_folder_error" if loaders.is_shipped(entry) else "own_model_error"))
        markup.paragraph(str(error), "typed")
        return None
    except loaders.EngineError as error:
        unanswered(error)
        return None


def _ready(entry: loaders.ModelEntry) -> loaders.EngineCorrector | None:
    try:
        return loaders.load_corrector(entry.path)
    except loaders.StillLoading as still:
        if loading.wait(still.corrector):
            return still.corrector
        loading.show(still.corrector)
        return None


def job_of(
    jobs: Jobs[AnyJob],
    given: DroppedFile,
    most_rows: int,
    corrector: loaders.EngineCorrector,
    column: str | None = None,
) -> AnyJob | None:
    """The job of the file ``given`` that a visitor has dropped; None, and a message, where it cannot be read."""
    from model.tables import TableError

    try:
        return jobs.job(given.content, given.name, corrector, column)
    except TooManyRowsError:
        st.error(say("table_too_many", rows=f"{most_rows:,}"))
    except TableError as error:
        show_file_problem(error.problem)
    return None


def show_file_problem(problem: str) -> None:
    """What is wrong with a file as a whole: one of model.tables.errors.FILE_PROBLEMS."""
    st.error(say("table_wrong") + " " + say(f"table_wrong_{problem}"))


@contextmanager
def waiting(place: st.delta_generator.DeltaGenerator) -> Iterator[None]:
    """Show in ``place`` what is wrong if the engine gives no answer to what is drawn inside. If there is no network to ask, nothing
    is drawn.
    """
    try:
        yield
    except loaders.NotLoadedError:
        pass
    except loaders.EngineError as error:
        with place:
            unanswered(error)


@contextmanager
def page() -> Iterator[None]:
    """Around a whole page: shows a message if an answer was needed and none came."""
    try:
        yield
    except loaders.EngineError as error:
        unanswered(error)


def unanswered(error: Exception) -> None:
    """Why no answer came, and a button that asks again. What was typed and chosen stays."""
    if isinstance(error, LibraryMissingError):  # asking again would not help
        st.info(say("needs_tensorflow"))
        return
    if isinstance(error, EngineBusyError):
        st.warning(say("engine_busy"))
    elif isinstance(error, EngineSlowError):
        st.warning(say("engine_slow"))
    elif isinstance(error, loaders.OwnModelError):
        st.error(say("live_model_error"))
        markup.paragraph(str(error), "typed")
    else:
        st.error(say("engine_died"))
    st.button(say("ask_again"), key="ask_again")


def has_no_inside(entry: loaders.ModelEntry | None) -> bool:
    """Whether a page about the inside of a network has nothing to show of this one. Then it says so."""
    if entry is None or not loaders.is_live(entry):
        return False
    st.info(say("live_model_page"))
    return True


def load_inside(entry: loaders.ModelEntry | None) -> loaders.EngineCorrector | None:
    """The model, for a page about its inside; None where ``has_no_inside`` or ``load_corrector`` has said why there is none."""
    return None if has_no_inside(entry) else load_corrector(entry)


def about(text: str, correction: loaders.Correction, corrector: loaders.Asked) -> None:
    """What a visitor should know about this correction."""
    limit = corrector.config.max_length
    for number, sentence in enumerate(correction.sentences, start=1):
        if sentence.too_long:
            st.warning(say("too_long", number=number, length=len(sentence.source), limit=limit))
    if len(correction.sentences) > len(split_sentences(correction.source)):
        markup.paragraph(say("read_in_parts", limit=limit), "note")
    if not unicodedata.is_normalized("NFC", text):
        markup.paragraph(say("composed"), "note")
    offered = (
        each.is_english_layout or (each.is_weighed and each.confidence >= LEAST_OFFERED)
        for each in correction.proposed
    )
    if correction.changes or any(offered) or all(sentence.too_long for sentence in correction.sentences):
        return
    if not loaders.corrects(corrector):
        return
    if corrector.config.architecture == models.LIVE:
        st.info(say("live_model_same"))
        return
    st.info(say("nothing_found" if any(map(is_hangul, correction.source)) else "no_hangul"))
