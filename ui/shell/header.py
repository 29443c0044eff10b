"""Header of every page: navigation, language, theme switch, lecture mode, the page's tools.

The page runs again when the theme switch is pressed, because figures and styles have their colours in them.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from ui.components.component import component, send_scripts
from ui.shell import address, controls, markup, own_words
from ui.wording import language, say
from viz.browser.texts import LANGUAGES

_SWITCH_STYLE = (
    """
button { width: 2.1rem; height: 2.1rem; padding: 0; font-size: 1.1rem; line-height: 1;"""
    """ cursor: pointer; color: var(--st-text-color);
  background: none; border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius); }
button:focus-visible { outline: 3px solid var(--st-primary-color); outline-offset: 1px; }
"""
)
_SWITCH = component(
    "theme_change",
    html='<button type="button"></button>',
    css=_SWITCH_STYLE,
    js=Path(__file__).with_name("theme_change.js").read_text("utf-8"),
)


def _show_theme_switch(theme: str, pages: Sequence[str]) -> None:
    """Show the switch, and have the page run again once it looks other than ``theme``, "light" or "dark".
    ``pages`` are the paths of all pages, which change their look together."""
    labels = {look: say(f"theme_{look}") for look in ("light", "dark")}
    # The callback has nothing to do: the change itself makes the page run again, and each run asks the
    # browser for the theme.
    _SWITCH(
        key="theme_change",
        data={"theme": theme, "labels": labels, "pages": list(pages)},
        on_theme_change=lambda: None,
    )


# The first is the entrance.
PAGES = (
    "attention",
    "laboratory",
    "heads",
    "calculation",
    "masks",
    "positions",
    "network",
    "growing",
    "table",
    "classroom",
    "trace",
    "model",
)
_WANTED = "wanted_page"
_SHOWN = "shown_page"


def show(page: str) -> None:
    """The whole line on ``page``, one of PAGES."""
    begin(page)
    tools()


def begin(page: str) -> bool:
    """The left part of the line: the other pages, and the page's title; that of the entrance is the product's
    name. Returns whether the run before this one showed the same page."""
    markup.style(controls.theme())
    send_scripts()
    own_words.keep()
    if controls.is_on("lecture"):
        markup.lecture_style()
    with controls.line(key="bar"):
        _pages(page)
        if page == PAGES[0]:
            markup.heading(say("product"), "product", level=1)
        else:
            markup.heading(say(f"{page}_page"), "product title", level=1)
    last = st.session_state.get(_SHOWN)
    st.session_state[_SHOWN] = page
    return last == page


def tools() -> tuple[DeltaGenerator, PopoverContainer]:
    """The right part of the line: the container and the popover of the settings, for a page to fill.

    A page may call this after it has drawn the text. The Tab key follows the order of calls, so it then
    reaches the text first.
    """
    with controls.line(key="tools", width="content"):
        own = controls.line(key="own", width="content")
        settings = st.popover(say("settings"), icon=":material/tune:", key="settings", on_change="rerun")
        _languages()
        # During a lecture the settings are out of the way.
        with nullcontext() if controls.is_on("lecture") else settings, st.container(key="lecture_switch"):
            controls.switch("lecture")
    _show_theme_switch(controls.theme(), PAGES)
    return own, settings


def turn_to(page: str) -> None:
    """From a callback, or before ``st.rerun``: go on at ``page``, one of PAGES, with the same settings."""
    st.session_state[_WANTED] = page


def is_left() -> bool:
    """Whether ``turn_to`` was called: the next run of the whole page goes on elsewhere."""
    return _WANTED in st.session_state


def _languages() -> None:
    """Each language under its own name, because a visitor who looks for it may not read the present one."""
    st.menu_button(
        LANGUAGES[language()],
        list(LANGUAGES),
        format_func=LANGUAGES.__getitem__,
        key="language",
        icon=":material/translate:",
        on_click=lambda: address.put("lang", st.session_state["language"]),
    )


def _pages(page: str) -> None:
    st.menu_button(
        say(f"{page}_page"),
        PAGES,
        format_func=lambda name: say(f"{name}_page"),
        key="pages",
        icon=":material/menu:",
        on_click=lambda: turn_to(st.session_state["pages"]),
    )
    wanted = st.session_state.pop(_WANTED, None)
    if wanted in PAGES and wanted != page:
        # The settings stay as they are, so Back returns to this page in one step.
        st.switch_page(f"ui/pages/{wanted}.py", query_params=address.told())
