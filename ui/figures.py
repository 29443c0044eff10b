"""The one way in which a page shows a figure."""

from collections.abc import Callable

import plotly.graph_objects as go

from ui import controls
from ui.components.plot import plot
from ui.texts import say
from viz.lens.plot import plot_data

MOST_COLUMNS_ON_A_PHONE = 20  # more scroll inside their box instead of melting into one another


def draw(
    figure: go.Figure,
    key: str,
    file_name: str,
    on_click: Callable[[dict], None] | None = None,
    *,
    label: str = "",
    title: str = "",
) -> None:
    """Show ``figure``; its toolbar saves it as ``file_name`` with the escaped ``title`` above it.

    ``label`` says what it shows to who cannot see it; without one the figure's own title does.
    ``on_click`` receives what was chosen in it, before the page runs again (``components.plot``).
    """
    label = label or figure.layout.title.text or say("figure_label")
    plot(
        plot_data(say, figure, label=label, file=file_name, title=title, theme=controls.theme()),
        key,
        on_click,
    )
