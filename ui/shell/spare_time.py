"""Imports in spare time what the first page does without at its start.

Pandas, which Streamlit's tables need too, takes 0.3 s to import. The first page would show its text that much later, and whoever opened
another page first would wait for it there.
"""

import time
from importlib import import_module
from math import inf
from threading import Thread, Timer

from ui.shell import turns

# The first page's labels are searched for emoji; compiling the pattern takes 40 ms.
SOON = ("streamlit.emojis",)
LIBRARIES = ("pandas",)
AFTER = 3.0  # seconds after the start of the server; until then somebody who waited for it has seen the first page
_BETWEEN_LOOKS = 0.1  # seconds between two looks whether a page waits


def begin() -> None:
    """Begin beside a server that has just started. Returns at once."""
    Thread(target=_import, args=(SOON,), daemon=True).start()
    timer = Timer(AFTER, _import_libraries)
    timer.daemon = True  # a server that ends does not wait for it
    timer.start()


def _import_libraries() -> None:
    while not turns.TURNS.nobody_waits:
        time.sleep(_BETWEEN_LOOKS)
    # In a turn of its own, because a page that is drawn meanwhile would fail: Plotly looks into pandas before pandas is imported whole.
    with turns.TURNS.taken(inf):
        _import(LIBRARIES)


def _import(names: tuple[str, ...]) -> None:
    for name in names:
        import_module(name)
