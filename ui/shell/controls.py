"""Controls (switch, slider, selection) whose values are settings of the address bar."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal, TypeVar

import streamlit as st
from streamlit.runtime.state import get_session_state

from ui.shell import address, markup
from ui.shell.settings import AnySetting, Choice, Flag, Number, Ordinal, is_number
from ui.wording import say

Value = TypeVar("Value")
line = partial(st.container, horizontal=True, vertical_alignment="center", gap="small")  # of controls
LabelVisibility = Literal["visible", "hidden", "collapsed"]


def theme() -> str:
    """ "light" or "dark", as the visitor's browser or the menu says."""
    return st.context.theme.type or "light"


def choose(
    name: str,
    options: list[str],
    label_of: Callable[[str], str],
    *,
    otherwise: str | None = None,
    label_visibility: LabelVisibility = "visible",
) -> str:
    """One of a few ``options`` side by side; returns the choice. Raises KeyError for an undeclared name."""
    start = _begin(name, address.get_option(name, options, otherwise))
    st.segmented_control(
        say(f"{name}_label"),
        options,
        default=start,
        format_func=label_of,
        **_bound(name),
        required=True,
        label_visibility=label_visibility,
    )
    return address.get_option(name, options, otherwise)


def button(text: str, key: str, press: Callable[..., None], *arguments: object, **look: Any) -> None:
    """A button that calls ``press`` with ``arguments`` before the page runs again; ``look`` as in
    ``st.button``."""
    st.button(text, key=key, on_click=press, args=arguments, **look)


def offer(text: str, key: str, file: str, content: bytes | Callable[[], bytes], **look: Any) -> None:
    """A button that saves ``content``, or the bytes that it returns once it is pressed, as ``file``; ``look``
    as in ``st.download_button``. The page does not run again."""
    st.download_button(text, content, file_name=file, key=key, on_click="ignore", **look)


def explain(text: str, *formulas: str) -> None:
    """The text of this key, below its formulas, one click away. Raises KeyError for an unknown key."""
    with st.expander(say("explanation")):
        for formula in formulas:
            st.latex(formula)
        st.markdown(say(text))


def is_on(name: str) -> bool:
    """Whether a setting that is "1" or empty is on. Raises KeyError for an undeclared name."""
    return address.get(name) == "1"


def switch(name: str) -> bool:
    """Something that is on or off; the setting is "1" or empty. Raises KeyError for an undeclared name."""
    start = _begin(name, is_on(name))
    st.toggle(say(f"{name}_label"), value=bool(start), **_bound(name, _keep_switch))
    return is_on(name)


def values(settings: Iterable[AnySetting]) -> dict[str, Any]:
    """The values of ``settings`` in the address, each in its own type. Raises KeyError for an unregistered
    setting."""
    return {setting.name: setting.read(address.get(setting.name)) for setting in settings}


def place(setting: Ordinal, count: int) -> int | None:
    """The chosen one of ``count`` things, from 0; None where none of them was. Raises KeyError for an
    unregistered setting."""
    found = setting.read(address.get(setting.name))
    return found if found is not None and found < count else None


def choose_beside(setting: Choice, options: Iterable[str] | None = None) -> None:
    """The ``options`` of one setting, by default all, without its label, for a line of several beside a
    picture. Raises KeyError for an option without the text ``<name>_<option>``."""
    choose(
        setting.name,
        list(setting.options if options is None else options),
        lambda option: say(f"{setting.name}_{option}"),
        label_visibility="collapsed",
    )


def show(setting: Choice | Flag | Number) -> None:
    """The control of one setting; the label of an option is the text ``<name>_<option>``. Raises KeyError
    where a text is missing."""
    match setting:
        case Choice(name):
            choose(name, list(setting.options), lambda option: say(f"{name}_{option}"))
        case Flag(name):
            switch(name)
        case Number():
            slide(setting)


def pick(
    name: str,
    options: list[str],
    label_of: Callable[[str], str],
    otherwise: str,
    width: int | None = None,
) -> str:
    """One of many ``options`` from a list that opens; labels are shown as plain text. Raises KeyError for an
    undeclared name."""
    start = _begin(name, address.get_option(name, options, otherwise))
    st.selectbox(
        say(f"{name}_label"),
        options,
        index=0 if start is None else options.index(start),
        format_func=label_of,
        **_bound(name),
        label_visibility="visible" if width is None else "collapsed",
        width="stretch" if width is None else width,
    )
    return address.get_option(name, options, otherwise)


WIDTH = 160  # pixels of a list beside its label


def pick_place(setting: Ordinal, count: int, at: int, label_of: Callable[[int], str]) -> None:
    """One of ``count`` things in a row, from a list that opens beside its label; ``at`` is chosen at first.
    Places count from 0. Raises KeyError for an unregistered setting."""
    with line(width="content"):
        markup.paragraph(say(f"{setting.name}_label"), "label")
        places = [str(place + 1) for place in range(count)]
        pick(setting.name, places, lambda number: label_of(int(number) - 1), str(at + 1), width=WIDTH)


def write(name: str, longest: int) -> str:
    """One line of text of at most ``longest`` characters. Raises KeyError for an undeclared name."""
    start = _begin(name, address.get(name)[:longest])
    st.text_input(say(f"{name}_label"), value=start or "", max_chars=longest, **_bound(name))
    return address.get(name)[:longest]


def slide(setting: Number) -> int:
    """A whole number of the setting's range. Raises KeyError for an undeclared name."""
    name, value = setting.name, setting.read(address.get(setting.name))
    start = _begin(name, value)
    st.slider(
        say(f"{name}_label"),
        setting.lowest,
        setting.highest,
        start,
        step=setting.step,
        **_bound(name),
    )
    return setting.read(address.get(name))


def slide_share(name: str, unchosen: float) -> float | None:
    """A slider for a share from 0 to 1 in steps of 0.05; returns None while it is at ``unchosen``, which is
    marked. Raises KeyError for an undeclared name."""
    unchosen, asked = round(unchosen, 2), address.get_share(name)
    chosen = unchosen if asked is None else asked  # a link may hold any share
    labels = {
        share: f"{share:.2f}" for share in sorted({unchosen, chosen, *(step / 20 for step in range(21))})
    }
    labels[unchosen] = say(f"{name}_unchosen", share=labels[unchosen])
    start = _begin(name, chosen)
    st.select_slider(
        say(f"{name}_label"),
        list(labels),
        start,
        format_func=labels.get,
        **_bound(name, _keep_choice, unchosen),
    )
    return None if chosen == unchosen else chosen


def slide_through(name: str, options: list[str], otherwise: str, label_of: Callable[[str], str]) -> str:
    """One of ``options`` in their order. Raises KeyError for an undeclared name."""
    start = _begin(name, address.get_option(name, options, otherwise))
    st.select_slider(say(f"{name}_label"), options, start, format_func=label_of, **_bound(name))
    return address.get_option(name, options, otherwise)


def pick_numbers(name: str, highest: int) -> list[int]:
    """Several different whole numbers from 0 to ``highest``, in the order chosen. Raises KeyError for an
    undeclared name."""
    start = _begin(name, _numbers(address.get(name), highest))
    st.multiselect(
        say(f"{name}_label"),
        list(range(highest + 1)),
        start,
        **_bound(name),
        placeholder=say("numbers_placeholder"),
        max_selections=8,
    )
    return _numbers(address.get(name), highest)


def _numbers(text: str, highest: int) -> list[int]:
    numbers = [int(part) for part in text.split(",") if is_number(part)]
    return list(dict.fromkeys(number for number in numbers if number <= highest))[:8]


def seed(key: str, value: Value) -> tuple[str, Value | None]:
    """The ``key`` of a widget that shall show ``value``, and the value that a new widget begins with.

    The setting decides: a widget that shows something else is set to it. A widget that already shows the
    value must not be set again. The command would reach the browser together with the drawing, and undo later
    choices of the visitor.
    """
    # Of a run that ended early the command has not reached the browser yet; it is given again.
    is_set = get_session_state().is_new_state_value(key)
    if st.session_state.get(key, value) == value and not is_set:
        return key, value
    st.session_state[key] = value
    return key, None  # Streamlit warns of a widget that is both moved and given a beginning


def _key(name: str) -> str:
    """The key of the widget that sets ``name``."""
    return f"control_{name}"


def _begin(name: str, value: Value) -> Value | None:
    """The value with which the widget that sets ``name`` begins; see ``seed``."""
    return seed(_key(name), value)[1]


def _bound(name: str, keep: Callable[..., None] | None = None, *more: object) -> dict[str, Any]:
    """The arguments by which a widget keeps its value as the setting ``name``."""
    return {"key": _key(name), "on_change": keep or _keep, "args": (name, *more)}


def _keep(name: str) -> None:
    if _key(name) not in st.session_state:  # the control was on a page that is gone
        return
    value = st.session_state[_key(name)]
    address.put(name, ",".join(map(str, value)) if isinstance(value, list) else str(value))


def _keep_switch(name: str) -> None:
    if _key(name) in st.session_state:
        address.put(name, "1" if st.session_state[_key(name)] else "")


def _keep_choice(name: str, unchosen: float) -> None:
    if _key(name) in st.session_state:
        value = st.session_state[_key(name)]
        address.put(name, "" if value == unchosen else f"{value:g}")
