"""Figures whose points can be clicked."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st

from ui import figures

_TOUCH = st.components.v2.component(
    "touch_on_figures", js=Path(__file__).with_name("clicks.js").read_text("utf-8")
)


def draw(figure: go.Figure, name: str, file_name: str, on_point: Callable[[dict], None]) -> None:
    """Show ``figure``; ``on_point`` receives a point that was clicked, before the page runs again.

    Every click gives the figure a new identity: otherwise one that looks as it did before an earlier click
    would bring its old selection back. A mouse that is dragged over it enlarges a part.
    """
    _TOUCH(key=f"touch_{name}")
    # Streamlit would let a mouse shift the picture out of its frame, and would set the click mode after drawing
    # it once without.
    figure.update_layout(dragmode="zoom", clickmode="event+select")
    key = f"{name}_{st.session_state.get(_count(name), 0)}"
    figures.draw(figure, key, file_name, partial(_take, name, key, on_point))


def _take(name: str, key: str, on_point: Callable[[dict], None]) -> None:
    points = st.session_state[key].selection.points
    if points:
        st.session_state[_count(name)] = st.session_state.get(_count(name), 0) + 1
        on_point(points[0])


def _count(name: str) -> str:
    return f"clicks_on_{name}"
