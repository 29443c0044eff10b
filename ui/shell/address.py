"""Address bar (query parameters): keeps a session's settings, so a link opens the same view.

Streamlit's own binding would write the labels of options, which change with the language. Here each setting
is a short string that means the same in all languages. Those of the browser, the class and lecture mode, are
in cookies instead, so that every link keeps them. The address is read when a session starts. After that
the session decides, and ``publish`` writes the address at the end of each run.

A choice is a step of the browser's history, so Back undoes it. Typing is no step. After Back, Streamlit runs
the page again and says that it follows the history. ``follow`` then takes over the settings of the address
before anything is drawn. A run that began before Back may still send its settings; the browser ignores them.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import local

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.components import live_text
from ui.components.component import component
from ui.shell import runs
from ui.shell.settings import Subject, defaults, moved, names_of, step, steps

LONGEST = 2_000

_CHOSEN_TEXTS = "chosen_texts"  # how many texts were chosen instead of typed
_PAGE = "published_page"  # where the session was last
_FOLLOWED = (
    "followed_back"  # how many times it followed Back or Forward, and the query to which they led last
)

_DRAWN = local()  # the settings of the session that this thread draws, and its context

_BAR = component("address_bar", js=Path(__file__).with_name("address.js").read_text("utf-8"), sent_once=True)


def get(name: str) -> str:
    """The setting ``name`` of this session. Raises KeyError for a name that is not declared."""
    return _view()[name]


def put(name: str, value: str) -> None:
    """Change the setting ``name``. Raises KeyError for a name that is not declared.

    In a run of a fragment without controls (``ui/asking/loaders.py``, ``ui/sentence/page.py``) nothing
    changes, because the visitor chose nothing. The browser reports the state of its controls with every run.
    If the session has just moved a control and the browser does not know yet, the old state would look like a
    choice.
    """
    if name not in defaults():
        raise KeyError(f"no setting {name!r}, there are {sorted(defaults())}")
    if not runs.runs_another():
        _view()[name] = value


def put_head(layer: int, head: int, kind: str | None = None) -> None:
    """Select this head, of ``kind`` where one is given; both count from 0."""
    if kind is not None:
        put("kind", kind)
    put("layer", str(layer + 1))
    put("head", str(head + 1))


def get_share(name: str) -> float | None:
    """The setting as a number from 0 to 1; None for anything else. Raises KeyError for an undeclared name."""
    text = get(name)
    return float(text) if re.fullmatch(r"0|1|[01]?\.[0-9]{1,4}", text) and float(text) <= 1 else None


def get_option(name: str, options: list[str], otherwise: str | None = None) -> str:
    """The setting, if it is one of ``options``. Else the first of these that is: its default, ``otherwise``,
    the first option. Raises StopIteration for no ``options``; KeyError for an undeclared name."""
    return next(text for text in (get(name), defaults()[name], otherwise, options[0]) if text in options)


def reset(names: Iterable[str]) -> None:
    """Put the settings ``names`` back to their defaults. Raises KeyError for an undeclared name."""
    for name in names:
        put(name, defaults()[name])


def forget(subject: Subject) -> None:
    """Reset the settings about one sentence, or about the whole text, its sentences included."""
    reset(names_of(subject))


def bind(names: Iterable[str], to: str, here: object) -> None:
    """Reset the settings ``names`` if ``here`` differs from its value in the session's last run. ``to`` names
    the kind of ``here``, such as "file".

    The first run resets nothing, because the settings of a link belong to its content.

    Raises KeyError for an undeclared name.
    """
    key = f"bound_to_{to}"
    before = st.session_state.get(key, here)
    st.session_state[key] = here
    if before != here:
        reset(names)


def told(*always: str) -> dict[str, str]:
    """The settings that differ from the defaults, and those of ``always``: the address of this view.

    A value of more than LONGEST characters stays out: no server would answer a reload of such an address.
    """
    return {
        name: value
        for name, value in _view().items()
        if (value != defaults()[name] or name in always) and len(value) <= LONGEST
    }


def shared(*always: str) -> tuple[tuple[str, str], ...]:
    """The settings that another visitor needs to see this view: ``told`` without the visitor's own."""
    own = names_of("visitor")
    return tuple((name, value) for name, value in told(*always).items() if name not in own)


def adopt(settings: Iterable[tuple[str, str]]) -> None:
    """Take over the settings that another visitor ``shared``; the visitor's own stay. Unlike ``put`` it also
    works in a fragment, so call it only where the visitor pressed something. Raises no KeyError for an
    undeclared name: a link of another version may hold one."""
    before = get("sentence")
    _replace(_with(settings))
    if get("sentence") != before:
        live_text.replace()


@contextmanager
def settings_of(settings: Iterable[tuple[str, str]]) -> Iterator[None]:
    """Inside, the settings are those that another visitor ``shared``; afterwards they are this session's
    again."""
    own = _view()
    _replace(_with(settings))
    try:
        yield
    finally:
        _replace(own)


def publish(page: str) -> None:
    """Write the settings that differ from the defaults into the address bar. ``page`` makes a change of page
    a step of the history."""
    context = get_script_run_ctx(suppress_warning=True)
    st.session_state[_PAGE] = context and context.page_script_hash
    times, query = st.session_state.get(_FOLLOWED, (0, ""))
    given = told()
    data = {
        "settings": [(name, None if name in names_of("browser") else given.get(name)) for name in defaults()],
        "kept": {_cookie(name): given.get(name, "") for name in names_of("browser")},
        "language": defaults()["lang"],
        "step": [page, st.session_state.get(_CHOSEN_TEXTS, 0), *(step(name, get(name)) for name in steps())],
        "session": context and context.session_id,
        "followed": {"times": times, "query": query},
    }
    _BAR(key="address_bar", data=data)


def cookie(name: str) -> str | None:
    """The cookie ``name`` of this session's browser; None without one."""
    found = st.context.cookies.get(name)
    return found if isinstance(found, str) else None  # Streamlit's tests have mocks


def _cookie(name: str) -> str:
    return f"attention_{name}"


def is_from_link(name: str) -> bool:
    """Whether the address itself names the setting, as a link to a class does; else the browser kept it."""
    return name in st.query_params


def follow() -> None:
    """Take over the settings of the address to which the browser's Back or Forward led, if it is on the same
    page.

    Another page keeps the session's settings. Call this before anything is drawn: drawing may end this run in
    favour of the next one, which does not know about Back.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None or not context.is_history_navigation:
        return
    times, _ = st.session_state.get(_FOLLOWED, (0, ""))
    st.session_state[_FOLLOWED] = times + 1, context.query_string
    if context.page_script_hash != st.session_state.get(_PAGE):
        return
    given = moved(st.query_params.to_dict())
    before = get("sentence")
    _view().update(
        {
            name: given.get(name, value)
            for name, value in defaults().items()
            if name not in names_of("visitor")
        }
    )
    if get("sentence") != before:
        live_text.replace()


def note_choice() -> None:
    """Remember that the text was chosen and not typed, so that Back returns to the text before it."""
    st.session_state[_CHOSEN_TEXTS] = st.session_state.get(_CHOSEN_TEXTS, 0) + 1


def _with(settings: Iterable[tuple[str, str]]) -> dict[str, str]:
    given, own = moved(dict(settings)), names_of("visitor")
    return {
        name: value if name in own else given.get(name, defaults()[name]) for name, value in _view().items()
    }


def _view() -> dict[str, str]:
    """The session's settings, which every text of a page asks for. Streamlit takes a lock and looks in four
    places for each value of a session, so the thread that draws a page keeps them for its run."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None or getattr(_DRAWN, "context", None) is not context:
        try:
            view = st.session_state["view"]
        except KeyError:
            kept = {name: cookie(_cookie(name)) or "" for name in names_of("browser")}
            given = moved(kept | st.query_params.to_dict())
            view = {name: given.get(name, default) for name, default in defaults().items()}
        _replace(view)
    return _DRAWN.view


def _replace(view: dict[str, str]) -> None:
    st.session_state["view"] = _DRAWN.view = view
    _DRAWN.context = get_script_run_ctx(suppress_warning=True)
