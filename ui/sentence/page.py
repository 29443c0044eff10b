"""Layout of the main page and the laboratory: text, correction, all heads, open view."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from dataclasses import replace as changed
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from engine.questions import verified_explanation
from model.text.tokenizer import normalise
from model.trace.trace import Described
from ui.asking import loaders, models
from ui.classroom import session
from ui.components.component import heard
from ui.components.live_text import live_text, replace, whole
from ui.components.widgets import welcome
from ui.sentence import three_numbers
from ui.sentence.decisions import MAX_CHARACTERS, Decisions, Doing, corrected, show_correction, within_limit
from ui.sentence.stage import (
    Stage,
    asks_without,
    chosen_view,
    of_one_head,
    show_controls,
    show_more,
    show_view,
    trace_remarks,
)
from ui.sentence.state import SentenceState
from ui.shell import address, controls, header, own_words, runs
from ui.shell.runs import TEXT_FRAGMENT, runs_alone, spinner
from ui.shell.settings import defaults, load_examples
from ui.views import TABS, overview
from ui.views.view import Tabs, View
from ui.wording import say

_REST = "drawn_beside_the_text"  # the settings and the pictures for which the rest of the page was drawn last


@st.fragment(key=TEXT_FRAGMENT)
def _text_fragment(write: Callable[[], Hashable | None], draw: Callable[[], None]) -> None:
    """``write`` the text, and ``draw`` its pictures.

    ``write`` returns a key on which the rest of the page depends; None without pictures.
    """
    if not runs_alone():
        with models.error_shown():
            write()
            draw()
        address.publish("")
        return
    with runs.taken():
        rest = st.session_state.get(_REST)
        if rest is None or rest[0] != _rest_settings() or header.is_left():
            st.rerun()
        runs.drop_questions()
        with models.error_shown():
            if write() != rest[1]:
                st.rerun()
            draw()
        address.publish("")
    with models.error_shown():
        runs.ask_rest()


def _rest_is_drawn(told: Hashable | None) -> None:
    """Remember that the rest of the page is drawn for the key ``told``, which ``write`` returned.

    None says that the rest changes with every text, as an open list of options does. Then each keystroke
    redraws the whole page.
    """
    st.session_state[_REST] = None if told is None else (_rest_settings(), told)


def _rest_settings() -> dict[str, object]:
    """Everything outside of the text on which the rest of the page depends."""
    of_the_text = {"sentence", *Decisions.SETTINGS}  # typing moves the decisions
    told = {name: value for name, value in address.told().items() if name not in of_the_text}
    return {**told, "own words": own_words.listed()}


LONGEST_AHEAD = 200  # characters; reading more takes longer than the rest of the pause
_AHEAD = "ahead"
_AHEAD_COMPONENT = st.components.v2.component(
    "ahead", js=Path(__file__).with_name("ahead.js").read_text("utf-8")
)


@st.fragment
def _listen_ahead(corrector: loaders.EngineCorrector) -> None:
    """Ask ``corrector`` about each text that the text area tells, until the page shows another model."""

    def ask() -> None:
        text = heard(_AHEAD, "text")
        if isinstance(text, str) and text.strip() and len(text) <= LONGEST_AHEAD and runs.TURNS.nobody_waits:
            corrector.correct_ahead(normalise(whole(text)), own_words.listed())

    _AHEAD_COMPONENT(key=_AHEAD, on_text_change=ask)


LONGEST_PASTE = 20_000  # more is cut by the browser; up to here the page says that it is too much


@dataclass(frozen=True)
class Places:
    """The containers of the text, of all heads and of the open view."""

    writing: DeltaGenerator
    heads: DeltaGenerator
    stage: Stage


@dataclass(frozen=True)
class OpenSentence:
    """A text with its correction, and the state that the open view shows. None without a picture."""

    corrector: loaders.EngineCorrector | None = None
    view: type[View] | None = None
    state: SentenceState | None = None

    @property
    def for_the_controls(self) -> Hashable | None:
        """A key of everything that the controls beside the pictures show; None without controls."""
        if self.corrector is None or self.view is None or self.state is None:
            return None
        state, view = self.state, self.view
        shapes = tuple(map(state.trace.shape, state.trace.kinds))
        below = view.lacks(state), asks_without(view, state), tuple(trace_remarks(state))
        return self.corrector.fingerprint, view.name, state.selection, shapes, below


def show_page(page: str) -> None:
    """The page ``page`` with its views as tabs. Shows EngineError as a message."""
    tabs = TABS[page]
    entrance = page == header.PAGES[0]
    again = header.begin(page)
    with st.container(key="stage"):
        left, right = st.container(key="left"), st.container(key="right")
    with left:
        writing, heads = st.container(key="writing"), st.container(key="heads")
    with right:
        places = Places(writing, heads, Stage())
    entry = models.chosen()
    is_own = entry is not None and loaders.is_live(entry)
    # A visitor's own model has its examples once it is loaded, so its tools are drawn later.
    settings = None if is_own or (again and entrance) else _tools()
    written, is_open = _show_text(places, tabs, entrance)
    corrector = written.corrector
    if settings is None:
        settings = _tools(corrector if is_own else None)
    if settings.open:
        with settings:
            models.choose()
            if corrector is not None:
                models.choose_confidence(corrector)
            own_words.edit()
    if corrector is not None:
        _listen_ahead(corrector)
    in_class = bool(address.get(session.SETTING))
    # In a class the lesson leads, and the welcome would lie over the way back to it.
    if entrance and not controls.is_on("lecture") and not in_class:
        welcome()
    changes_with_text = is_open or settings.open or is_own or in_class
    _rest_is_drawn(None if changes_with_text else written.for_the_controls)


def _show_text(places: Places, tabs: Tabs, entrance: bool) -> tuple[OpenSentence, bool]:
    """The text, its pictures and their controls. Returns the sentence, and whether something is open below
    the pictures.

    An experiment may take seconds, and controls should not wait for it. On the ``entrance`` they come after
    the pictures.
    """
    written = OpenSentence()

    def write() -> Hashable | None:
        nonlocal written
        written = _write_text(places.stage, tabs)
        return written.for_the_controls

    def draw() -> None:
        if written.view is not None and written.state is not None:
            with models.error_shown_in(places.stage.told):  # in the place of what did not come, over nothing
                show_pictures(places.heads, places.stage, written.view(written.state))

    with places.writing:
        if entrance:
            _text_fragment(write, draw)
        else:
            write()
    view, state = written.view, written.state
    if view is None or state is None:
        return written, False
    popovers = show_controls(places.stage, state.trace, state.selection, view, tabs)
    if not entrance:
        draw()
    return written, show_more(places.stage, view(state), popovers)


def _write_text(stage: Stage, tabs: Tabs) -> OpenSentence:
    """Draw the text and its correction; returns the state for the open view."""
    entry = models.chosen()
    own = "_own" if entry is not None and loaders.is_live(entry) else ""
    words = {name: say(f"input_{name}{own}") for name in ("label", "placeholder")}
    words |= {"waiting": say("waiting_for_a_turn"), "limit": f"{MAX_CHARACTERS:,}"}
    live_text(address.get("sentence"), words, LONGEST_PASTE, _take_typed)
    typed = address.get("sentence")
    text = normalise(typed)  # as the correction has it: its places, lengths and the rest behind it
    said, measured = st.container(key="said"), st.container(key="measured")
    status = st.container(key="status")
    with status:
        corrector = models.load_corrector(entry)
    if corrector is None:
        return OpenSentence()
    told = loaders.described(corrector)
    if told is not None and text == defaults()["sentence"] != (first := _first_text(told, text)):
        keep_typed(first)
        replace()
        st.rerun()
    sentence = change = None
    with said, models.error_shown_in(status):
        correction = _corrected(text, corrector)
        if correction:
            doing = Doing(tests=verified_explanation.suits(corrector.config), keeps_words=told is None)
            rest = text[len(correction.source) :]
            sentence, change = show_correction(correction, doing, rest, told, typed)
            models.show_remarks(typed, correction, corrector)
    found = OpenSentence(corrector)
    if sentence is None:
        return found
    runs.behind_texts()
    if sentence.too_long:
        with stage.told:
            st.info(say("too_long_to_show", limit=corrector.config.max_length))
        return found
    with models.error_shown_in(status):
        trace = sentence.trace
        view, selection = chosen_view(trace, tabs)
        state = SentenceState(corrector, sentence, trace, selection, change, controls.theme())
        found = changed(found, view=view, state=of_one_head(view, state))
        with measured:
            three_numbers.show(state, is_map=view.name == "heatmap", tells=view.name != "predict")
    return found


def show_pictures(heads: DeltaGenerator, stage: Stage, view: View) -> None:
    """All heads in the container ``heads``, and the open view. Raises EngineError."""
    state = view.state
    if state.has_several_heads and view.name != "predict":  # the tiles would give the answer away
        complete = not view.lacks(state)
        framed = view.marked() if complete else None
        with heads:
            nats = view.tiles() if complete else None
            overview.draw(state, framed, nats, shown_below=view.has_map)
    show_view(stage, view)


def _tools(own: loaders.EngineCorrector | None = None) -> PopoverContainer:
    """The right part of the top line; the popover of the settings. ``own``: a visitor's own model, which
    brings its examples."""
    told = loaders.described(own) if own is not None else None
    line, settings = header.tools()
    if _has_examples(told):
        with line:
            _choose_example(told.examples if told is not None else ())
    return settings


def _has_examples(told: Described | None) -> bool:
    return told is None or bool(told.examples) or told.task == "correct"


def _choose_example(own: tuple[str, ...] = ()) -> None:
    found = dict(zip(own, own, strict=True)) or {each.id: each.text for each in load_examples()}

    def take() -> None:
        keep_typed(found[st.session_state["examples"]])
        replace()
        address.note_choice()

    st.menu_button(
        say("example_label"),
        list(found),
        format_func=lambda id_: id_ if own else say(f"example_{id_}"),
        key="examples",
        on_click=take,
    )


def _take_typed(text: str) -> None:
    """Keep the text of the text area. A slow browser may send it together with the request of another
    fragment. Then this run belongs to that fragment, and the text is drawn in the next run."""
    with runs.taken_for_whole():
        decisions = Decisions.read().moved(address.get("sentence"), text)
        keep_typed(text)
        decisions.keep()
    if runs.runs_another():
        st.rerun()


def keep_typed(text: str) -> None:
    """Keep ``text``, and reset the choices in the text before it."""
    if text != address.get("sentence"):
        address.put("sentence", text)
        address.forget("text")


def _first_text(told: Described, text: str) -> str:
    """The first text of a visitor's own model: its first example. Without one, a model that corrects keeps
    ``text``, which has mistakes to correct, and any other begins with no text."""
    if told.examples:
        return told.examples[0]
    return text if told.task == "correct" else ""


def _corrected(text: str, corrector: loaders.EngineCorrector) -> loaders.Correction | None:
    if not text.strip():
        told = getattr(corrector.config, "described", None)
        st.info(say("empty" if _has_examples(told) else "empty_without_examples"))
        return None
    if len(text) > MAX_CHARACTERS:
        read = len(within_limit(text))
        counts = {"read": f"{read:,}", "left": f"{len(text) - read:,}"}
        st.warning(say("too_many_characters", **counts, page=say("table_page")))
    with spinner(say("working")):  # seen only if the answer takes long
        return corrected(corrector, text)
