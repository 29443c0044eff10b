"""The views of one sentence, in the order of their tabs."""

from ui.views import edits, heatmap, lines, numbers, predict, received, sources, steps, without
from ui.views.view import View

VIEWS: tuple[View, ...] = tuple(
    module.VIEW for module in (heatmap, lines, steps, edits, received, without, sources, numbers, predict)
)
