"""How heads grew up: one share for each head at each snapshot, and the loss above them."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.labels import plain_text, template_text
from viz.theme import TITLE_HEIGHT, base_axis, base_layout, figure_title, palette

_HEIGHT, _HEAD, _FOOT = 270, 4, 56  # pixels
_LOSS_SHARE, _BETWEEN = 0.28, 0.1  # of the room for both panels
_DASHES = ("solid", "dash", "dot", "dashdot")


def growth_curves(
    steps: Sequence[int],
    losses: Sequence[float],
    shares: np.ndarray,
    names: Sequence[str],
    *,
    at: int | None = None,
    title: str = "",
    step_title: str = "Step",
    loss_title: str = "Loss",
    share_title: str = "Share",
    theme: str = "light",
) -> go.Figure:
    """Two panels over N snapshots, which stand at equal distances: the loss, and a line for each of H heads.

    Args:
        steps: N training steps. ``losses``: N; NaN where none was measured.
        shares: (N, H) floats in 0..1. ``names``: H names of the heads.
        at: the number of a snapshot, from 0, that a line through both panels marks.

    Raises ValueError for shapes that do not fit each other, shares outside 0..1, a snapshot that does not exist, and
    an unknown theme.
    """
    shares = np.asarray(shares, np.float32).reshape(len(steps), len(names))
    measured = np.asarray(losses, np.float32)
    if measured.shape != (len(steps),):
        raise ValueError(f"losses should be ({len(steps)},) as the steps are, received {measured.shape}")
    if not ((shares >= 0) & (shares <= 1 + 1e-4)).all():
        raise ValueError(f"shares should lie in 0..1, received {shares.min()} to {shares.max()}")
    if at is not None and not 0 <= at < len(steps):
        raise ValueError(f"at should lie in 0..{len(steps) - 1}, received {at}")
    colours = palette(theme)
    places = list(range(1, len(steps) + 1))
    shown = [f"{step:,}" for step in steps]
    figure = go.Figure(layout=_layout(shown, at, (title, step_title, loss_title, share_title), theme))
    figure.add_trace(
        go.Scatter(
            x=places,
            y=measured,
            text=shown,
            mode="lines+markers",
            line={"color": colours.text, "width": 2},
            yaxis="y",
            showlegend=False,
            hovertemplate=f"{template_text(step_title)} %{{text}}<br>{template_text(loss_title)}: "
            "<b>%{y:.3f}</b><extra></extra>",
        )
    )
    for number, name in enumerate(names):
        figure.add_trace(
            go.Scatter(
                x=places,
                y=shares[:, number],
                text=shown,
                mode="lines",
                name=plain_text(name),
                line={
                    "color": colours.lines[number % len(colours.lines)],
                    "dash": _DASHES[number // len(colours.lines) % len(_DASHES)],
                    "width": 2,
                },
                yaxis="y2",
                hovertemplate=f"{template_text(name)}<br>{template_text(step_title)} %{{text}}<br>"
                f"{template_text(share_title)}: <b>%{{y:.2f}}</b><extra></extra>",
            )
        )
    return figure


def _layout(shown: list[str], at: int | None, titles: tuple[str, str, str, str], theme: str) -> dict:
    title, step_title, loss_title, share_title = titles
    colours = palette(theme)
    share_top = 1 - _LOSS_SHARE - _BETWEEN
    marker = {
        "type": "line",
        "x0": (at or 0) + 1,
        "x1": (at or 0) + 1,
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "line": {"color": colours.accent, "width": 2},
    }
    return base_layout(theme) | {
        "title": figure_title(plain_text(title), _HEIGHT),
        "xaxis": base_axis(theme, plain_text(step_title))
        | {
            "anchor": "y2",
            "range": [0.5, max(len(shown), 1) + 0.5],
            "tickmode": "array",
            "tickvals": list(range(1, len(shown) + 1)),
            "ticktext": shown,
            "tickangle": -45,
            "showgrid": False,
            "fixedrange": True,
        },
        "yaxis": base_axis(theme, plain_text(loss_title))
        | {"domain": [1 - _LOSS_SHARE, 1], "type": "log", "dtick": 1, "fixedrange": True},
        "yaxis2": base_axis(theme, plain_text(share_title))
        | {"domain": [0, share_top], "range": [-0.02, 1.02], "fixedrange": True},
        "shapes": [] if at is None else [marker],
        "height": TITLE_HEIGHT + _HEIGHT,
        "margin": {"t": TITLE_HEIGHT + _HEAD, "l": 64, "r": 16, "b": _FOOT},
        "legend": {
            "orientation": "v",
            "x": 1.01,
            "y": share_top,
            "yanchor": "top",
            "bgcolor": "rgba(0,0,0,0)",
        },
    }
