"""Puts the main page and the laboratory together. Both are composed alike; only their views differ.

Left: the typed text, its correction, all heads as tiles. Right: the open view. The main page has ``views.VIEWS``, which show what the
network did; the laboratory has ``views.EXPERIMENTS``, which change something and ask the network again.
What was changed has a colour of its own, and each picture that stands beside an original says which of the two it is.

The address names the open view, so it is known before any control is drawn (``stage.chosen_view``). From a session's second run on,
the main page therefore sends text and pictures first and the controls after them.
"""

from functools import partial

import streamlit as st
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from ui.asking import loaders, models
from ui.components import ahead
from ui.components.live_text import live_text, replace
from ui.components.welcome import welcome
from ui.look import examples
from ui.look.lens import Lens
from ui.look.proposals import Decisions, show_correction
from ui.look.sentence import MAX_CHARACTERS
from ui.look.stage import Stage, chosen_view, of_one_head, show_controls, show_more, show_view
from ui.shell import address, controls, header, notices, turns
from ui.shell.spinner import spinner
from ui.views import overview
from ui.views.view import View
from ui.wording.texts import say

LONGEST_PASTE = 20_000  # more is cut by the browser; up to here the page says that it is too much


def show(page: str, views: tuple[View, ...], setting: str) -> None:
    """The page ``page`` with ``views`` as its tabs; ``setting`` is the setting that names the open one."""
    entrance = page == header.PAGES[0]
    again = header.begin(page, heading=say("product" if entrance else f"{page}_title"))
    with st.container(key="stage"):
        left, right = st.container(key="left"), st.container(key="right")
    # At each further key the controls are there already, so text and pictures go first. An experiment may take seconds, and
    # controls should not wait for it.
    late = again and entrance
    settings = None if late else tools()
    corrector = write_and_look(left, right, views, setting, late)
    if settings is None:
        settings = tools()
    if settings.open:
        with settings:
            models.choose()
            if corrector is not None:
                models.choose_confidence(corrector)
    if corrector is not None:
        ahead.listen(corrector)
    if entrance and not controls.is_on("lecture"):
        welcome()


def write_and_look(
    left: st.delta_generator.DeltaGenerator,
    right: st.delta_generator.DeltaGenerator,
    views: tuple[View, ...],
    setting: str,
    late: bool,
) -> loaders.EngineCorrector | None:
    """The text with its correction, the heads and the open view. With ``late`` the controls come after the pictures. Returns the
    model; None if there is none.
    """
    with left:
        writing, heads = st.container(key="writing"), st.container(key="heads")
    entry = models.chosen()
    with writing:
        live_text(
            address.get("sentence"),
            say("input_label"),
            say("input_placeholder"),
            say("waiting_for_a_turn"),
            LONGEST_PASTE,
            keep_typed,
        )
        text = address.get("sentence")
        said, status = st.container(key="said"), st.container(key="status")
    with status:
        corrector = notices.load_corrector(entry)
    if corrector is None:
        return None
    sentence = change = None
    with said, notices.waiting(status):
        correction = correct(text, corrector)
        if correction:
            sentence, change = show_correction(correction)
            notices.about(text, correction, corrector.config)
    if sentence is None:
        return corrector
    turns.behind_texts()
    with right:
        if sentence.too_long:
            st.info(say("too_long_to_show", limit=corrector.config.max_length))
            return corrector
        with notices.waiting(status):
            trace = sentence.trace
            view, selection = chosen_view(trace, views, setting)
            lens = Lens(corrector, sentence, trace, selection, change, controls.theme())
            show_pictures(lens, view, views, setting, heads, late)
    return corrector


def show_pictures(
    lens: Lens,
    view: View,
    views: tuple[View, ...],
    setting: str,
    heads: st.delta_generator.DeltaGenerator,
    late: bool = False,
) -> None:
    """The open view, and all heads in the container ``heads``. With ``late`` the controls come after them."""
    stage = Stage()
    lens = of_one_head(view, lens)
    controls_of_view = partial(show_controls, stage, lens.trace, lens.selection, view, views, setting)
    popovers = None if late else controls_of_view()
    try:
        if lens.has_several_heads and view.name != "predict":  # the tiles would give the answer away
            complete = not view.lacks(lens)
            framed = view.framed(lens) if view.framed and complete else None
            with heads:
                nats = view.tiles(lens) if complete else None
                overview.draw(lens, framed, nats, shown_below=view.has_map)
        show_view(stage, view, lens)
    except (loaders.EngineError, loaders.NotLoadedError):
        if late:  # without a picture, a visitor can still open another view
            controls_of_view()
        raise
    popovers = popovers or controls_of_view()
    show_more(stage, view, lens, popovers)


def tools() -> PopoverContainer:
    """The right part of the top line; the popover of the settings."""
    with header.tools():
        choose_example()
        return st.popover(say("settings"), icon=":material/tune:", key="settings", on_change="rerun")


def choose_example() -> None:
    """One sentence for each kind of error."""
    found = {example.id: example.text for example in examples.load()}

    def take() -> None:
        keep_typed(found[st.session_state["examples"]])
        replace()
        address.note_choice()

    st.menu_button(
        say("example_label"),
        list(found),
        format_func=lambda id_: say(f"example_{id_}"),
        key="examples",
        on_click=take,
    )


def keep_typed(text: str) -> None:
    """Keep ``text``, and forget what was chosen in the text before it."""
    if text != address.get("sentence"):
        address.put("sentence", text)
        address.forget("text")


def correct(text: str, corrector: loaders.EngineCorrector) -> loaders.Correction | None:
    """The correction with the visitor's settings. None, and a message, if there is none."""
    if not text.strip():
        st.info(say("empty"))
        return None
    if len(text) > MAX_CHARACTERS:
        st.warning(say("too_many_characters", length=f"{len(text):,}", limit=f"{MAX_CHARACTERS:,}"))
        return None
    with spinner(say("working")):  # a length of text that is met for the first time takes a while
        return Decisions.read().applied(loaders.correct(text, corrector), corrector.minimum_confidence)
