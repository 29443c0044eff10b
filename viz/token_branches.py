"""Different continuations of the same beginning: one row of tokens each, coloured by their probability."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from viz.figure import TITLE_HEIGHT, base_axis, base_layout, figure_title, weight_scale
from viz.labels import cell_label, plain_text, template_text, visible_token, width_in_em
from viz.theme import colour_scale, palette

_ROW, _GAP, _FOOT, _HEAD = 40, 0.5, 44, 40  # pixels; the gap between two rows in rows


def token_branches(
    tokens: Sequence[Sequence[str]],
    probabilities: Sequence[Sequence[float]],
    names: Sequence[str],
    *,
    parted: int | None = None,
    title: str = "",
    step_title: str = "Step",
    probability_title: str = "Probability",
    theme: str = "light",
) -> go.Figure:
    """One row of cells for each of R branches, one cell for each token; step t lies at x = t + 1.

    Args:
        tokens: R rows of tokens as they were typed; they are escaped here. Rows may differ in length.
        probabilities: of each token, in 0..1, with the lengths of ``tokens``.
        names: R names, left of the rows.
        parted: the step, from 0, where the branches part; its column is framed.

    Raises ValueError for rows that do not fit each other, probabilities outside 0..1, a step that no branch has,
    and an unknown theme.

    >>> ways = [["돼", "요"], ["되", "요"]]
    >>> figure = token_branches(ways, [[0.75, 0.5], [0.25, 0.5]], ["written", "other"], parted=0)
    >>> figure.data[0].z.tolist()
    [[0.75, 0.5], [0.25, 0.5]]
    """
    info = _info(tokens, probabilities, names, parted)
    figure = go.Figure(layout=_layout(info, title, step_title, theme))
    if info.steps:
        figure.add_trace(_cells(info, step_title, probability_title, theme))
    return figure


@dataclass(frozen=True)
class _BranchesInfo:
    tokens: tuple[tuple[str, ...], ...]
    probabilities: tuple[np.ndarray, ...]
    names: tuple[str, ...]
    parted: int | None

    @property
    def steps(self) -> int:
        return max((len(row) for row in self.tokens), default=0)

    @property
    def height(self) -> float:
        return TITLE_HEIGHT + _HEAD + max(len(self.tokens), 1) * (1 + _GAP) * _ROW + _FOOT


def _info(
    tokens: Sequence[Sequence[str]],
    probabilities: Iterable[ArrayLike],
    names: Sequence[str],
    parted: int | None,
) -> _BranchesInfo:
    rows = tuple(np.asarray(row, np.float32) for row in probabilities)
    lengths = [len(row) for row in tokens]
    if lengths != [len(row) for row in rows] or len(names) != len(lengths):
        received = (lengths, [len(row) for row in rows], len(names))
        raise ValueError(f"tokens, probabilities and names should fit each other, received {received}")
    for row in rows:
        if not ((row >= 0) & (row <= 1 + 1e-4)).all():
            raise ValueError(f"probabilities should lie in 0..1, received {row.min()} to {row.max()}")
    if parted is not None and not 0 <= parted < max(lengths, default=0):
        raise ValueError(f"parted should be a step of a branch, received {parted}")
    return _BranchesInfo(tuple(map(tuple, tokens)), rows, tuple(names), parted)


def _cells(info: _BranchesInfo, step_title: str, probability_title: str, theme: str) -> go.Heatmap:
    shape = len(info.tokens), info.steps
    values = np.full(shape, np.nan, np.float32)
    texts, whole = np.full(shape, "", object), np.full(shape, "", object)
    for row, (tokens, found) in enumerate(zip(info.tokens, info.probabilities, strict=True)):
        values[row, : len(tokens)] = found
        texts[row, : len(tokens)] = [cell_label(token) for token in tokens]
        whole[row, : len(tokens)] = [template_text(visible_token(token)) for token in tokens]
    return go.Heatmap(
        z=values,
        text=texts.tolist(),  # the browser may shrink the text to fit its cell
        customdata=whole,
        texttemplate="%{text}",
        textfont={"size": 15 if info.steps <= 44 else 10},
        x0=1,
        y=[row * (1 + _GAP) for row in range(len(info.tokens))],
        zmin=0,
        zmax=1,
        colorscale=colour_scale(palette(theme).sequential),
        colorbar=weight_scale(plain_text(probability_title), info.height) | {"nticks": 3, "tickformat": "~g"},
        xgap=1,
        ygap=_ROW * _GAP,
        hovertemplate=f"{template_text(step_title)} %{{x:d}}: <b>%{{customdata}}</b>"
        f"<br>{template_text(probability_title)}: <b>%{{z:.3f}}</b><extra></extra>",
    )


def _layout(info: _BranchesInfo, title: str, step_title: str, theme: str) -> dict:
    rows, accent = len(info.tokens), palette(theme).accent
    frame = {
        "type": "rect",
        "x0": (info.parted or 0) + 0.5,
        "x1": (info.parted or 0) + 1.5,
        "y0": -0.5,
        "y1": (rows - 1) * (1 + _GAP) + 0.5,
        "line": {"color": accent, "width": 2},
    }
    widest = max((width_in_em(name) for name in info.names), default=0)
    return base_layout(theme) | {
        "title": figure_title(plain_text(title), info.height),
        "xaxis": base_axis(theme, plain_text(step_title))
        | {
            "range": [0.5, max(info.steps, 1) + 0.5],
            "showgrid": False,
            "dtick": 5,
            "tick0": 0,
            "fixedrange": True,
        },
        "yaxis": base_axis(theme, "")
        | {
            "range": [max(rows - 1, 0) * (1 + _GAP) + 0.75, -0.75],
            "tickmode": "array",
            "tickvals": [row * (1 + _GAP) for row in range(rows)],
            "ticktext": [plain_text(name) for name in info.names],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
        "shapes": [] if info.parted is None else [frame],
        "height": info.height,
        "meta": {"tokens": max(info.steps, 1)},
        "margin": {"t": TITLE_HEIGHT + _HEAD, "l": 16 + 14 * widest, "r": 16, "b": _FOOT},
        "plot_bgcolor": "rgba(0,0,0,0)",
    }
