"""How heads develop during training: the share of a role for each head and snapshot, below the loss and the score."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.figure import TITLE_HEIGHT, base_axis, base_layout, figure_title
from viz.labels import plain_text, template_text
from viz.theme import palette

_HEIGHT, _LEAST, _HEAD, _FOOT = 440, 270, 4, 56  # pixels
_LOSS_SHARE, _BETWEEN = 0.28, 0.1  # of the room for both panels
_MOST_LABELS = 12  # labels of snapshots below a narrow picture
_DASHES = ("solid", "dash", "dot", "dashdot")


def growth_curves(
    steps: Sequence[int],
    losses: Sequence[float],
    scores: Sequence[float],
    shares: np.ndarray,
    names: Sequence[str],
    *,
    at: int | None = None,
    title: str = "",
    step_title: str = "Step",
    loss_title: str = "Loss",
    score_title: str = "Score",
    share_title: str = "Share",
    theme: str = "light",
) -> go.Figure:
    """Two panels over N snapshots, which stand at equal distances: the loss with the score, whose axis is on the right,
    and a line for each of H heads.

    Args:
        steps: N training steps. ``losses``: N, and ``scores``: N in 0..1; NaN where none was measured.
        shares: (N, H) floats in 0..1, NaN where there is none. ``names``: H names of the heads.
        at: the number of a snapshot, from 0, that a line through both panels marks.

    Raises ValueError for shapes that do not fit each other, shares outside 0..1, a snapshot that does not exist, and
    an unknown theme.

    >>> shares = np.array([[0.1, 0.1], [0.4, 0.2], [0.9, 0.1]])  # of two heads at three snapshots
    >>> figure = growth_curves([0, 100, 1000], [5.0, 1.0, 0.2], [0.0, 0.3, 0.8], shares, ["head 1", "head 2"])
    >>> [trace.name for trace in figure.data][2:]
    ['head 1', 'head 2']
    """
    curves, shares = _checked(steps, losses, scores, shares, names, at)
    colours = palette(theme)
    places = list(range(1, len(steps) + 1))
    shown = [f"{step:,}" for step in steps]
    titles = title, step_title, loss_title, score_title, share_title
    figure = go.Figure(layout=_layout(shown, at, titles, theme))
    of_all = (("y", loss_title, colours.text, "solid"), ("y3", score_title, colours.qualitative[0], "dot"))
    for (axis, name, colour, dash), values in zip(of_all, curves, strict=True):
        figure.add_trace(
            go.Scatter(
                x=places,
                y=values,
                text=shown,
                mode="lines+markers",
                line={"color": colour, "width": 2, "dash": dash},
                yaxis=axis,
                showlegend=False,
                hovertemplate=f"{template_text(step_title)} %{{text}}<br>{template_text(name)}: "
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
                    "color": colours.qualitative[number % len(colours.qualitative)],
                    "dash": _DASHES[number // len(colours.qualitative) % len(_DASHES)],
                    "width": 2,
                },
                yaxis="y2",
                hovertemplate=f"{template_text(name)}<br>{template_text(step_title)} %{{text}}<br>"
                f"{template_text(share_title)}: <b>%{{y:.2f}}</b><extra></extra>",
            )
        )
    return figure


def _checked(
    steps: Sequence[int],
    losses: Sequence[float],
    scores: Sequence[float],
    shares: np.ndarray,
    names: Sequence[str],
    at: int | None,
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Losses (N,) and scores (N,), and the shares (N, H)."""
    shares = np.asarray(shares, np.float32).reshape(len(steps), len(names))
    measured = {"losses": np.asarray(losses, np.float32), "scores": np.asarray(scores, np.float32)}
    for name, values in measured.items():
        if values.shape != (len(steps),):
            raise ValueError(f"{name} should be ({len(steps)},) as the steps are, received {values.shape}")
    if ((shares < 0) | (shares > 1 + 1e-4)).any():
        raise ValueError(f"shares should lie in 0..1, received {np.nanmin(shares)} to {np.nanmax(shares)}")
    if at is not None and not 0 <= at < len(steps):
        raise ValueError(f"at should lie in 0..{len(steps) - 1}, received {at}")
    return (measured["losses"], measured["scores"]), shares


def _layout(shown: list[str], at: int | None, titles: tuple[str, str, str, str, str], theme: str) -> dict:
    title, step_title, loss_title, score_title, share_title = titles
    colours = palette(theme)
    share_top = 1 - _LOSS_SHARE - _BETWEEN
    every = 1 + len(shown) // _MOST_LABELS  # counted from the last, which is looked at most
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
            "ticktext": [step if number % every == 0 else "" for number, step in enumerate(reversed(shown))][
                ::-1
            ],
            "tickangle": -45,
            "showgrid": False,
            "fixedrange": True,
        },
        "yaxis": base_axis(theme, plain_text(loss_title))
        | {"domain": [1 - _LOSS_SHARE, 1], "type": "log", "dtick": 1, "fixedrange": True},
        "yaxis3": base_axis(theme, plain_text(score_title))
        | {
            "overlaying": "y",
            "side": "right",
            "tickmode": "array",
            "tickvals": [0, 0.5, 1],
            "range": [-0.05, 1.05],
            "showgrid": False,
            "color": colours.qualitative[0],
            "fixedrange": True,
        },
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
        "meta": {"fit": "fill", "least": _LEAST},
    }
