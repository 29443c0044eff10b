"""Reads what the browser reports about a component or a table.

A manipulated browser can send any value of any type, so each is checked before it is used.
"""

from collections.abc import Mapping

import streamlit as st


def heard(key: str, name: str) -> object:
    """The state ``name`` of the component ``key``; None where there is none."""
    held = st.session_state.get(key)
    return held.get(name) if isinstance(held, Mapping) else None


def chosen_row(key: str, count: int) -> int | None:
    """The row that was chosen in the table ``key`` of ``count`` rows, from 0; None for anything else."""
    selection = heard(key, "selection")
    rows = selection.get("rows") if isinstance(selection, Mapping) else None
    row = rows[0] if isinstance(rows, list) and rows else None
    return row if type(row) is int and 0 <= row < count else None
