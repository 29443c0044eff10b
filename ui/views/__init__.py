"""The views of one sentence, in the order of their tabs.

VIEWS show what the network did. EXPERIMENTS change something and show what it would have done.
"""

from ui.views import (
    decided,
    edits,
    fork,
    heatmap,
    lines,
    numbers,
    predict,
    received,
    replace,
    sources,
    steps,
    twins,
    without,
    wrote,
)
from ui.views.view import View

VIEWS: tuple[View, ...] = tuple(
    module.VIEW for module in (heatmap, lines, steps, edits, wrote, decided, received, numbers, predict)
)
EXPERIMENTS: tuple[View, ...] = tuple(module.VIEW for module in (without, sources, replace, fork, twins))
