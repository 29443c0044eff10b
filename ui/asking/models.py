"""Model selector of a page, and messages for errors of the input, the model and the engine.

A model that cannot be used is named with its reason.
"""

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from engine.records import EngineBusyError, EngineSlowError, LibraryMissingError
from model.text.hangul import is_hangul
from model.text.tokenizer import split_sentences
from ui.asking import loaders
from ui.shell import address, controls, markup
from ui.wording import say

LIVE = "traced"  # the architecture of a TracedModel
NAMED = ("transformer", "seq2seq", "growing-up")  # the shipped models that have a name in every language


def chosen() -> loaders.ModelEntry | None:
    """The model that the page is about; None if none can be used."""
    found = usable()
    return found[address.get_option("model", list(found), otherwise=next(iter(found)))] if found else None


def choose() -> loaders.ModelEntry | None:
    """Let the visitor choose a model, if there are several, and return it. Models that cannot be used are
    named with the reason."""
    found = usable()
    if len(found) > 1:
        names = {id_: name_of(entry) for id_, entry in found.items()}
        controls.pick("model", list(found), names.__getitem__, otherwise=next(iter(found)))
    for entry in loaders.list_entries():
        if entry.problem is not None:
            markup.paragraph(say("model_unusable", name=name_of(entry), reason=entry.problem), "note")
    return chosen()


def choose_confidence(corrector: loaders.EngineCorrector) -> None:
    """The control for the minimum confidence: less sure changes are left undone. Not shown for a model that
    does not say how sure it is."""
    if corrector.config.architecture == LIVE:
        return
    controls.slide_share("confidence", corrector.minimum_confidence)
    markup.paragraph(say("confidence_meaning"), "note")


def usable() -> dict[str, loaders.ModelEntry]:
    """Id -> model: the live one, the shipped ones as named, then those on disk."""
    found = {loaders.model_id(entry): entry for entry in loaders.list_entries() if entry.problem is None}
    first = [
        *(id_ for id_, entry in found.items() if loaders.is_live(entry)),
        *(n for n in NAMED if n in found),
    ]
    return {id_: found[id_] for id_ in (*first, *(id_ for id_ in found if id_ not in first))}


def name_of(entry: loaders.ModelEntry) -> str:
    """The model's name on the screen: words for a shipped one, the folder's name for an own one."""
    shipped = loaders.model_id(entry) in NAMED
    return say(f"model_name_{entry.name.replace('-', '_')}") if shipped else entry.name


def load_corrector(entry: loaders.ModelEntry | None) -> loaders.EngineCorrector | None:
    """The model. None while it is loading, with its progress; None with a message if it cannot be used. Shows
    ModelFolderError and EngineError as messages."""
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
        show_error(error)
        return None


def _ready(entry: loaders.ModelEntry) -> loaders.EngineCorrector | None:
    try:
        return loaders.load_corrector(entry.path)
    except loaders.StillLoading as still:
        if loaders.wait_for(still.corrector):
            return still.corrector
        loaders.show_loading(still.corrector)
        return None


@contextmanager
def error_shown_in(place: st.delta_generator.DeltaGenerator) -> Iterator[None]:
    """Show an error of the engine in ``place`` if the block gets no answer. Without a network, nothing
    is drawn. Catches EngineError and NotLoadedError."""
    try:
        yield
    except loaders.NotLoadedError:
        pass
    except loaders.EngineError as error:
        with place:
            show_error(error)


@contextmanager
def error_shown() -> Iterator[None]:
    """Around a whole page: shows a message if an answer was needed and none came. Catches EngineError."""
    try:
        yield
    except loaders.EngineError as error:
        show_error(error)


def show_error(error: Exception) -> None:
    """Why no answer came, and a button that asks again. The text and the choices stay. Each subclass of
    EngineError has its own text."""
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
    """The model, for a page about its inside; None after a message of ``has_no_inside`` or
    ``load_corrector``. Shows errors as ``load_corrector`` does: EngineError, ModelFolderError."""
    return None if has_no_inside(entry) else load_corrector(entry)


def show_remarks(text: str, correction: loaders.Correction, corrector: loaders.Asked) -> None:
    """Show remarks about a correction: what was too long, composed, unchanged or no Korean."""
    limit = corrector.config.max_length
    for number, sentence in enumerate(correction.sentences, start=1):
        if sentence.too_long:
            st.warning(say("too_long", number=number, length=len(sentence.source), limit=limit))
    if len(correction.sentences) > len(split_sentences(correction.source)):
        markup.paragraph(say("read_in_parts", limit=limit), "note")
    if not unicodedata.is_normalized("NFC", text):
        markup.paragraph(say("composed"), "note")
    offered = any(each.is_offered for each in correction.proposed)
    if correction.changes or offered or all(sentence.too_long for sentence in correction.sentences):
        return
    if not loaders.corrects(corrector):
        return
    if corrector.config.architecture == LIVE:
        st.info(say("live_model_same"))
        return
    st.info(say("nothing_found" if any(map(is_hangul, correction.source)) else "no_hangul"))
