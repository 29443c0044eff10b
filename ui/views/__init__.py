"""The views of one sentence, in the order of their tabs.

VIEWS show what the network did. EXPERIMENTS change something and show what it would have done. To add a view: a file here that
declares ``VIEW``, its texts in ``assets/texts/``, and its name in this file.
"""

from ui.shell.settings import AnySetting, Choice
from ui.views import (
    circuit,
    decided,
    edits,
    fork,
    heatmap,
    lines,
    numbers,
    overview,
    patched,
    predict,
    receipts,
    received,
    replace,
    side_by_side,
    sources,
    steps,
    why,
    without,
    wrote,
)
from ui.views.view import View

VIEWS: tuple[View, ...] = tuple(
    module.VIEW for module in (heatmap, lines, steps, edits, wrote, decided, received, numbers, predict)
)
EXPERIMENTS: tuple[View, ...] = tuple(
    module.VIEW for module in (without, sources, replace, fork, side_by_side, patched, circuit, why, receipts)
)
ALL_SETTINGS: tuple[AnySetting, ...] = (
    Choice("view", tuple(view.name for view in VIEWS), is_step=True),  # the open one
    Choice("experiment", tuple(view.name for view in EXPERIMENTS), is_step=True),
    overview.ORDER,
    *(setting for view in (*VIEWS, *EXPERIMENTS) for setting in view.settings),
)
