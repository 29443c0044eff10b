"""Editors for a setting that is a table of numbers: cells to type in, or the same as one line of text."""

from dataclasses import dataclass

import streamlit as st

from ui.parts.number_table import NumberTable
from ui.shell import address, controls


@dataclass
class _Editor:
    """The content with which an editor began. Its edits count from there, so this stays while edits come in.
    Given another beginning, Streamlit would make a new editor and lose the edits."""

    version: int
    beginning: NumberTable
    text: str  # the setting, as far as this editor knows


def cells(name: str) -> None:
    """The setting ``name`` as a grid whose rows can be added and taken away."""
    editor = _editor(name)
    frame = editor.beginning.frame()
    st.data_editor(
        frame,
        key=_key(name, editor),
        num_rows="dynamic",
        hide_index=True,
        column_config={column: st.column_config.NumberColumn(width="small") for column in frame.columns},
        on_change=_keep_cells,
        args=(name,),
    )


def line(name: str, label: str) -> None:
    """The setting ``name`` as one line of text, for tables of other widths and for people who prefer to type."""
    key, start = controls.seed(f"line_{name}", address.get(name))
    st.text_input(label, start or "", key=key, on_change=lambda: address.put(name, st.session_state[key]))


def _editor(name: str) -> _Editor:
    place, text = f"editor_{name}", address.get(name)
    editor = st.session_state.get(place)
    # A value from a link or a button, or one lost by a visit to another page, begins a new editor.
    if editor is None or editor.text != text or _key(name, editor) not in st.session_state:
        version = editor.version + 1 if editor else 0
        editor = st.session_state[place] = _Editor(version, NumberTable.parse(text), text)
    return editor


def _key(name: str, editor: _Editor) -> str:
    return f"cells_{name}_{editor.version}"


def _keep_cells(name: str) -> None:
    editor = st.session_state[f"editor_{name}"]
    editor.text = editor.beginning.edited(st.session_state[_key(name, editor)]).text
    address.put(name, editor.text)
