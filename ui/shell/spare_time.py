"""Imports in spare time what the first page does without and most other pages need.

Pandas, which Streamlit's tables need too, takes 0.3 s to import. The first page would show its text that much later, and whoever opened
another page first would wait for it there.
"""

import time
from importlib import import_module
from math import inf
from threading import Timer

import streamlit as st

from ui.shell import turns

LIBRARIES = ("pandas",)
AFTER = 1.5  # seconds; the browser still asks for the first page's fonts and scripts
_BETWEEN_LOOKS = 0.1  # seconds between two looks whether a page waits


@st.cache_resource(show_spinner=False)
def import_libraries() -> None:
    """Begin soon after the first page of this server has been drawn, once. Returns at once."""
    timer = Timer(AFTER, _import)
    timer.daemon = True  # a server that ends does not wait for it
    timer.start()


def _import() -> None:
    while not turns.TURNS.nobody_waits:
        time.sleep(_BETWEEN_LOOKS)
    # In a turn of its own, because a page that is drawn meanwhile would fail: Plotly looks into pandas before pandas is imported whole.
    with turns.TURNS.taken(inf):
        for name in LIBRARIES:
            import_module(name)
