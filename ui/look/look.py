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
from ui.classroom import membership
from ui.components import ahead
from ui.components.live_text import live_text, replace
from ui.components.welcome import welcome
from ui.look import examples
from ui.look.lens import Lens
from ui.look.proposals import Decisions, show_correction
from ui.look.sentence import MAX_CHARACTERS
from ui.look.stage import Stage, chosen_view, of_one_head, show_controls, show_more, show_view
from ui.shell import address, controls, header, notices, turns
from ui.shell.declared import defaults
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
    entry = models.chosen()
    is_own = entry is not None and loaders.is_live(entry)
    late = again and entrance
    # The examples of a model of one's own are known when it is loaded.
    settings = None if late or is_own else tools()
    corrector = write_and_look(left, right, views, setting, late)
    if settings is None:
        settings = tools(corrector if is_own else None)
    if settings.open:
        with settings:
            models.choose()
            if corrector is not None:
                models.choose_confidence(corrector)
    if corrector is not None:
        ahead.listen(corrector)
    # In a class the lesson leads, and the welcome would lie over the way back to it.
    if entrance and not controls.is_on("lecture") and not address.get(membership.SETTING):
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
    own = "_own" if entry is not None and loaders.is_live(entry) else ""
    with writing:
        live_text(
            address.get("sentence"),
            say(f"input_label{own}"),
            say(f"input_placeholder{own}"),
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
    told = getattr(corrector.config, "described", None)
    if told is not None and told.examples and text == defaults()["sentence"] != told.examples[0]:
        keep_typed(told.examples[0])
        replace()
        st.rerun()
    sentence = change = None
    with said, notices.waiting(status):
        correction = correct(text, corrector)
        if correction:
            sentence, change = show_correction(correction, told=told)
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


def tools(own: loaders.EngineCorrector | None = None) -> PopoverContainer:
    """The right part of the top line; the popover of the settings. ``own``: a model of one's own, which brings its examples."""
    told = getattr(own.config, "described", None) if own is not None else None
    with header.tools():
        if told is None or told.examples or told.task == "correct":
            choose_example(told.examples if told is not None else ())
        return st.popover(say("settings"), icon=":material/tune:", key="settings", on_change="rerun")


def choose_example(own: tuple[str, ...] = ()) -> None:
    """One sentence for each kind of error; those of ``own`` where there are some."""
    found = dict(zip(own, own, strict=True)) or {each.id: each.text for each in examples.load()}

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
