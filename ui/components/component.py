"""Streamlit components: declared with a script, and checked reports from the browser.

``component`` sends data as it is. Streamlit asks of each value in a mapping whether it is a table, and
imports pandas to find out: half a second before the first picture, and 70 MB. It does not look into a list.
So the data travels as a list of one, which the script opens again.

Streamlit sends a component's script and style with its data, each time, two thirds of the bytes of a
keystroke. So the scripts of all that a keystroke draws are one separate component (``send_scripts``): it is
the same in every run, and Streamlit does not send it again.

``heard`` and ``chosen_row`` read the browser's reports about a component or a table. A manipulated browser
can send any value of any type, so each is checked before it is used.
"""

from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import streamlit as st

from viz.browser.document import declared, with_named_export

_OPEN = "given => exportedByDefault({ ...given, data: given.data[0] })"
_MEETING, _PLACE = (
    Path(__file__).with_name(f"{name}.js").read_text("utf-8") for name in ("meeting", "place")
)
_sent_once: list[str] = []  # scripts, each of which hands its function over


def component(name: str, js: str, *, sent_once: bool = False, **parts: Any) -> Callable[..., Any]:
    """A function that shows the component: ``key``, ``data`` and, for the browser's reports, ``on_…_change``.

    ``js``: a module that exports one function by default, which takes ``data``. ``sent_once``: whether it
    comes with ``send_scripts``. ``parts``: ``html``, ``css`` and other arguments of
    ``st.components.v2.component``.
    """
    script, _ = with_named_export(js)
    if sent_once:
        # A page that stays open while the server gets another version waits for the script of that version.
        meeting = declared({"NAME": f"{name} {sha256(js.encode()).hexdigest()[:8]}"}) + "\n" + _MEETING
        _sent_once.append(f"{{\n{meeting}{script}\nmeeting.resolve({_OPEN});\n}}\n")
        script = meeting + _PLACE
    else:
        script += f"\nexport default {_OPEN};\n"
    mount = st.components.v2.component(name, js=script, **parts)

    def show(key: str, data: dict, **handlers: Any) -> Any:
        return mount(key=key, data=[data], **handlers)

    return show


def send_scripts() -> None:
    """Send the scripts of the components that are ``sent_once``. It shows nothing."""
    _declared("".join(_sent_once))(key="scripts")


@cache  # a page may bring further components when it is opened first
def _declared(scripts: str) -> Callable[..., Any]:
    return st.components.v2.component("scripts", js=f"{scripts}export default function () {{}}\n")


def heard(key: str, name: str) -> object:
    """The state ``name`` of the component ``key``; None if missing."""
    held = st.session_state.get(key)
    return held.get(name) if isinstance(held, Mapping) else None


def chosen_row(key: str, count: int) -> int | None:
    """The row that was chosen in the table ``key`` of ``count`` rows, from 0; None for anything else."""
    selection = heard(key, "selection")
    rows = selection.get("rows") if isinstance(selection, Mapping) else None
    row = rows[0] if isinstance(rows, list) and rows else None
    return row if type(row) is int and 0 <= row < count else None
