"""The one way in which a page shows a figure."""

from collections.abc import Callable

import plotly.graph_objects as go
import streamlit as st

import viz
from ui import lecture

MOST_COLUMNS_ON_A_PHONE = 20  # more scroll inside their box instead of melting into one another


def draw(figure: go.Figure, key: str, file_name: str, on_click: Callable[[], None] | None = None) -> None:
    """Show ``figure``; its toolbar saves it as ``file_name``. Fonts are larger in lecture mode.

    ``on_click`` is called before the page runs again when one of the figure's points was clicked; the
    points are then in ``st.session_state[key].selection``.
    """
    if lecture.is_on():
        figure = lecture.enlarged(figure)
    # Streamlit gives Plotly each figure twice, the second time as a copy with a size in whole pixels. Plotly rests
    # then, unless it meets what it cannot compare: data without a revision, a template, even an empty one.
    figure.update_layout(datarevision=1, autosize=True)
    figure.layout.template = None
    if figure.layout.height:
        figure.layout.height = round(figure.layout.height)
    selection = {"on_select": on_click, "selection_mode": "points"} if on_click else {}
    st.plotly_chart(figure, key=key, theme=None, config=viz.config(file_name=file_name), **selection)
