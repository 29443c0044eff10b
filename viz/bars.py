"""Bar charts over the tokens of a sentence: attention by head, input attribution."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from viz.axes import ColumnTicks, cell_size, column_ticks
from viz.figure import TITLE_HEIGHT, base_axis, base_layout, figure_title, legend_across, upright_line
from viz.labels import plain_text, template_text, token_label
from viz.theme import palette

_TOLERANCE = 1e-4


class PanelSizes(NamedTuple):
    """Pixels of a column of panels: one panel, the name above it, the foot below the last one, the legend
    above all.

    ``may_shrink``: pixels that each panel gives up on a low window.
    """

    panel: int
    name: int
    foot: int
    legend: int
    may_shrink: int = 0


BARS = PanelSizes(panel=84, name=26, foot=40, legend=26)
PANELS = PanelSizes(panel=52, name=22, foot=40, legend=26, may_shrink=26)


def attention_bars(
    weights: np.ndarray,
    tokens: Sequence[str],
    names: Sequence[str],
    *,
    outlined: Sequence[int] = (),
    outlined_title: str = "outlined",
    first: int = 0,
    title: str = "",
    token_title: str = "Key",
    hover: tuple[str, str] = ("Key", "Weight"),
    theme: str = "light",
) -> go.Figure:
    """Bars of attention over the same tokens for R heads; bar k lies at x = first + k.

    All panels share one scale, from 0 to the largest weight. An outline encloses the whole column, so it also
    shows tokens without attention, and is visible without colour.

    Args:
        weights: (R, K) floats in 0..1.
        tokens: K tokens as they were typed; they are escaped here. ``names``: R names of the panels.
        outlined: columns in 0..K-1 to be enclosed; their labels are bold.
        first: the position of the first token, where the tokens are a window of a sentence.
        hover: names of the token and the weight.

    Raises:
        ValueError: shapes that do not fit each other, weights outside 0..1, an outlined column that does
            not exist, and an unknown theme.

    Example:
        >>> weights = np.array([[0.75, 0.25], [0.5, 0.5]])
        >>> figure = attention_bars(weights, ["가", "방"], ["head 1", "head 2"], outlined=[0])
        >>> [trace.y.tolist() for trace in figure.data if trace.type == "bar"]
        [[0.75, 0.25], [0.5, 0.5]]
    """
    info = _info(weights, tokens, names, outlined, first)
    figure = go.Figure(layout=_layout(info, title, token_title, theme))
    for row in range(len(info.names)):
        figure.add_trace(_bars(info, row, hover, theme))
        if info.outlined:
            figure.add_trace(_outline(info, row, outlined_title, theme))
    return figure


@dataclass(frozen=True)
class _BarsInfo:
    weights: np.ndarray  # (R, K) float32
    tokens: tuple[str, ...]  # (K,)
    names: tuple[str, ...]  # (R,)
    outlined: tuple[int, ...]  # columns, in order
    first: int

    @property
    def highest(self) -> float:
        return float(self.weights.max(initial=0)) or 1.0

    @property
    def runs(self) -> list[tuple[int, int]]:
        """(first, last) column of each run of neighbouring outlined columns."""
        cells = np.zeros(len(self.tokens) + 2, np.int8)
        cells[np.array(self.outlined, int) + 1] = 1
        edges = np.flatnonzero(np.diff(cells)).reshape(-1, 2)
        return [(int(start), int(end) - 1) for start, end in edges]


def _info(
    weights: ArrayLike, tokens: Sequence[str], names: Sequence[str], outlined: Sequence[int], first: int
) -> _BarsInfo:
    weights = np.asarray(weights, dtype=np.float32)
    expected = (len(names), len(tokens))
    if weights.size == 0 and 0 in expected:
        weights = np.zeros(expected, np.float32)
    if weights.shape != expected:
        raise ValueError(
            f"weights should have the shape (R, K) = {expected} of names and tokens, received {weights.shape}"
        )
    if weights.size and not (weights.min() >= -_TOLERANCE and weights.max() <= 1 + _TOLERANCE):
        raise ValueError(f"weights should lie in 0..1, received {weights.min()} to {weights.max()}")
    strange = [column for column in outlined if not 0 <= column < expected[1]]
    if strange:
        raise ValueError(f"outlined should lie in 0..{expected[1] - 1}, received {strange}")
    return _BarsInfo(weights, tuple(tokens), tuple(names), tuple(sorted(set(outlined))), first)


def _axis(row: int) -> str:
    return "y" if row == 0 else f"y{row + 1}"


def _bars(info: _BarsInfo, row: int, hover: tuple[str, str], theme: str) -> go.Bar:
    token_name, weight_name = map(template_text, hover)
    return go.Bar(
        x=np.arange(len(info.tokens)) + info.first,
        y=info.weights[row],
        text=[token_label(token) for token in info.tokens],
        textposition="none",
        width=0.8,
        marker={"color": palette(theme).sequential[3], "line": {"width": 0}},
        yaxis=_axis(row),
        name=plain_text(info.names[row]),
        showlegend=False,
        hovertemplate=f"{token_name} %{{x:d}}: <b>%{{text}}</b><br>{weight_name}: <b>%{{y:.3f}}</b>"
        "<extra></extra>",
    )


def _outline(info: _BarsInfo, row: int, title: str, theme: str) -> go.Scatter:
    x, y = [], []
    for start, end in info.runs:
        left, right = start + info.first - 0.47, end + info.first + 0.47
        x += [left, left, right, right, left, None]
        y += [0, info.highest, info.highest, 0, 0, None]
    return go.Scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": palette(theme).accent, "width": 2},
        yaxis=_axis(row),
        name=plain_text(title),
        showlegend=row == 0,
        hoverinfo="skip",
    )


def _height(info: _BarsInfo) -> float:
    return _above(info) + max(len(info.names), 1) * (BARS.panel + BARS.name) + _ticks(info).height + BARS.foot


def _above(info: _BarsInfo) -> float:
    """Pixels above the panels."""
    return TITLE_HEIGHT + (BARS.legend if info.outlined else 0)


def _ticks(info: _BarsInfo) -> ColumnTicks:
    return column_ticks(info.tokens, cell_size(len(info.tokens)))


def _layout(info: _BarsInfo, title: str, token_title: str, theme: str) -> go.Layout:
    height = _height(info)
    token_axis = _token_axis(info.tokens, len(info.names) - 1, info.outlined, token_title, theme)
    return go.Layout(
        base_layout(theme)
        | _weight_axes(info, theme)
        | {
            "title": figure_title(plain_text(title), height),
            "xaxis": token_axis
            | {
                "range": [place + info.first for place in token_axis["range"]],
                "tickvals": [place + info.first for place in token_axis["tickvals"]],
            },
            "height": height,
            "margin": {"t": _above(info), "l": 40, "r": 16, "b": _ticks(info).height + BARS.foot},
            "annotations": [_name(info, row) for row in range(len(info.names))],
            "legend": {
                "x": 0,
                "xanchor": "left",
                "yref": "container",
                "y": 1 - TITLE_HEIGHT / height,
                "yanchor": "top",
                "itemclick": False,
                "itemdoubleclick": False,
                "bgcolor": "rgba(0,0,0,0)",
            },
        }
    )


def _top(info: _BarsInfo, row: int) -> float:
    """Where a panel begins, as a share of the height of all panels; 1 is the top."""
    return 1 - (row + BARS.name / (BARS.panel + BARS.name)) / max(len(info.names), 1)


def _weight_axes(info: _BarsInfo, theme: str) -> dict:
    panels = max(len(info.names), 1)
    share = BARS.panel / (BARS.panel + BARS.name) / panels
    return {
        f"yaxis{row + 1}": base_axis(theme, "")
        | {
            # A little room above and below, so that no outline is cut in half.
            "range": [-0.02 * info.highest, 1.04 * info.highest],
            "domain": [max(_top(info, row) - share, 0), _top(info, row)],
            "nticks": 4,
            "tickformat": "~g",
            "automargin": True,
        }
        for row in range(panels)
    }


def _token_axis(tokens: Sequence[str], lowest: int, bold: Collection[int], title: str, theme: str) -> dict:
    """The axis below the ``lowest`` panel, whose ticks are tokens from x = 0."""
    cell = cell_size(len(tokens))
    ticks = column_ticks(tokens, cell)
    return base_axis(theme, plain_text(title)) | {
        "anchor": _axis(max(lowest, 0)),
        "range": [-0.5, max(len(tokens), 1) - 0.5],
        "tickmode": "array",
        "tickvals": list(ticks.positions),
        "ticktext": ticks.below(bold),
        "tickangle": ticks.angle,
        "tickfont": {"size": cell.font},
        "showgrid": False,
    }


def _name(info: _BarsInfo, row: int) -> dict:
    """The name above a panel."""
    return {
        "text": plain_text(info.names[row]),
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "y": _top(info, row),
        "yref": "paper",
        "yanchor": "bottom",
        "yshift": 2,
        "showarrow": False,
    }


@dataclass(frozen=True)
class MethodPanel:
    """One attribution method: its (K,) values over the tokens, and how they were computed.

    ``intervened``: the values come from an intervention; otherwise they are observed in the pass. ``values``
    are None while they are not known: the panel shows its name and an empty place. ``note`` is written beside
    the name, such as how well the method agrees with the reference. ``labels``: a text above each bar.

    Example:
        >>> MethodPanel("gradient", np.array([0.5, -0.25])).intervened
        False
    """

    name: str
    values: np.ndarray | None
    intervened: bool = False
    note: str = ""
    labels: tuple[str, ...] = ()


def contribution_panels(
    panels: Sequence[MethodPanel],
    tokens: Sequence[str],
    *,
    outlined: Collection[int] = (),
    split: int | None = None,
    observed_name: str = "observed",
    intervened_name: str = "what if",
    title: str = "",
    token_title: str = "Token",
    value_title: str = "Share of the largest",
    panel: int = PANELS.panel,
    theme: str = "light",
) -> go.Figure:
    """Small multiples on one axis: K tokens, and for each of the panels a row of bars.

    Methods have different units, so each panel is scaled to its own largest size; compare the shapes only.
    Bars below the line speak against the written token. Observed and intervened values differ in colour and
    in pattern, so that a grey print shows them, too.

    Args:
        panels: any number; one whose values are all 0 has no bars.
        tokens: K tokens as they were typed; escaped here.
        outlined: tokens with bold labels, such as those of the edit.
        split: the first token of a second group, such as the tokens written before; a line is drawn there.
        panel: pixels that the bars of a panel have where the window has room for them.

    Raises:
        ValueError: values of another length or not finite, for tokens that do not exist, and for an
            unknown theme.

    Example:
        >>> rollout = MethodPanel("rollout", np.array([0.2, 0.8]))
        >>> panels = [rollout, MethodPanel("left out", np.array([-1.0, 4.0]), True)]
        >>> figure = contribution_panels(panels, ["가", "방"])
        >>> [bars.y.tolist() for bars in figure.data]  # each divided by its largest size
        [[0.25, 1.0], [-0.25, 1.0]]
    """
    info = _panels_info(panels, tokens, outlined, split, panel)
    figure = go.Figure(layout=_panels_layout(info, title, token_title, theme))
    shown = set()
    for row, each in enumerate(info.panels):
        name = intervened_name if each.intervened else observed_name
        bars = _panels_bars(info, row, name, (token_title, value_title), theme)
        figure.add_trace(bars.update(showlegend=name not in shown))
        shown.add(name)
    return figure


_LABELLED_TOP = (
    2.2  # end of the axis where bars have texts: the lowest window still has room for a line above a bar of 1
)


@dataclass(frozen=True)
class _PanelsInfo:
    panels: tuple[MethodPanel, ...]
    values: np.ndarray  # (R, K) in -1..1, each row divided by its largest size
    tokens: tuple[str, ...]  # (K,)
    outlined: frozenset[int]
    split: int | None
    panel: int  # pixels

    @property
    def signed(self) -> bool:
        return bool((self.values < 0).any())

    @property
    def labelled(self) -> bool:
        return any(panel.labels for panel in self.panels)

    @property
    def foot(self) -> float:
        """Height in pixels below the panels."""
        return PANELS.foot + column_ticks(self.tokens, cell_size(len(self.tokens))).height

    @property
    def height(self) -> float:
        """The figure's height in pixels."""
        return self.height_with((PANELS.panel + PANELS.name) * self.panel / PANELS.panel)

    @property
    def least(self) -> float:
        """The least height in pixels, on a low window."""
        return self.height_with(PANELS.panel + PANELS.name - PANELS.may_shrink)

    def height_with(self, row: float) -> float:
        """The height of a figure whose panels have so many pixels each, their names included."""
        return TITLE_HEIGHT + PANELS.legend + max(len(self.panels), 1) * row + self.foot

    def top(self, row: int) -> float:
        """Where a panel begins, as a share of the room of all panels, 1 at the top."""
        return 1 - (row + PANELS.name / (PANELS.panel + PANELS.name)) / max(len(self.panels), 1)


def _panels_info(
    panels: Sequence[MethodPanel],
    tokens: Sequence[str],
    outlined: Collection[int],
    split: int | None,
    height: int,
) -> _PanelsInfo:
    count = len(tokens)
    rows = []
    for panel in panels:
        if panel.values is None:
            rows.append(np.full(count, np.nan, np.float32))
            continue
        values = np.asarray(panel.values, np.float32)
        if values.shape != (count,) or not np.isfinite(values).all():
            raise ValueError(
                f"values of {panel.name!r} should be finite and ({count},), received {values.shape}"
            )
        rows.append(values / (np.abs(values).max(initial=0) or 1))
    if strange := [place for place in outlined if not 0 <= place < count]:
        raise ValueError(f"outlined should lie in 0..{count - 1}, received {strange}")
    if split is not None and not 0 <= split <= count:
        raise ValueError(f"split should lie in 0..{count}, received {split}")
    values = np.array(rows, np.float32).reshape(len(rows), count)
    return _PanelsInfo(tuple(panels), values, tuple(tokens), frozenset(outlined), split, height)


def _panels_bars(info: _PanelsInfo, row: int, name: str, titles: tuple[str, str], theme: str) -> go.Bar:
    panel, colours = info.panels[row], palette(theme)
    token_title, value_title = map(template_text, titles)
    return go.Bar(
        x=np.arange(len(info.tokens)),
        y=info.values[row],
        customdata=None if panel.values is None else np.asarray(panel.values, np.float32),
        text=[token_label(token) for token in info.tokens],
        texttemplate=[plain_text(label) for label in panel.labels] or None,
        textposition="outside" if panel.labels else "none",
        cliponaxis=False,
        width=0.8,
        marker={
            "color": colours.qualitative[1] if panel.intervened else colours.qualitative[0],
            "line": {"width": 0},
            "pattern": {"shape": "/" if panel.intervened else "", "solidity": 0.4},
        },
        yaxis=_axis(row),
        name=plain_text(name),
        legendgroup=name,
        hovertemplate=f"{template_text(panel.name)}<br>{token_title} %{{x:d}}: <b>%{{text}}</b>"
        f"<br>%{{customdata:.4f}} · {value_title}: <b>%{{y:.2f}}</b><extra>{template_text(name)}</extra>",
    )


def _panels_layout(info: _PanelsInfo, title: str, token_title: str, theme: str) -> go.Layout:
    return go.Layout(
        base_layout(theme)
        | _value_axes(info, theme)
        | {
            "title": figure_title(plain_text(title), info.height),
            "xaxis": _token_axis(info.tokens, len(info.panels) - 1, info.outlined, token_title, theme)
            | {"fixedrange": True},
            "height": info.height,
            "margin": {"t": TITLE_HEIGHT + PANELS.legend, "l": 24, "r": 16, "b": info.foot},
            "annotations": [_panels_name(info, row, theme) for row in range(len(info.panels))],
            "shapes": [_split_line(info.split, theme)] if info.split is not None and info.panels else [],
            "legend": legend_across(1 - TITLE_HEIGHT / info.height, "top", container=True, fixed=True),
            "bargap": 0.2,
            "meta": {
                "fit": "fill",
                "least": info.least,
                "tokens": max(len(info.tokens), 1),
            },
        }
    )


def _value_axes(info: _PanelsInfo, theme: str) -> dict:
    rows = max(len(info.panels), 1)
    share = PANELS.panel / (PANELS.panel + PANELS.name) / rows
    # One range for all: a panel without negative values has its line where the others have it.
    usual = [-1.05 if info.signed else -0.02, 1.4 if info.labelled else 1.05]
    return {
        f"yaxis{row + 1}": base_axis(theme, "")
        | {
            "range": _labelled_range(info, row)
            if row < len(info.panels) and info.panels[row].labels
            else usual,
            "domain": [max(info.top(row) - share, 0), info.top(row)],
            "showticklabels": False,
            "showgrid": False,
            "zeroline": True,
            "zerolinecolor": palette(theme).quiet_text,
            "fixedrange": True,
        }
        for row in range(rows)
    }


def _labelled_range(info: _PanelsInfo, row: int) -> list[float]:
    """The texts above the bars take the room of values below the line in panels without such values."""
    return [-1.05 if (info.values[row] < 0).any() else -0.02, _LABELLED_TOP]


def _split_line(split: int, theme: str) -> dict:
    return upright_line(split - 0.5, {"color": palette(theme).quiet_text, "dash": "dot", "width": 1})


def _panels_name(info: _PanelsInfo, row: int, theme: str) -> dict:
    panel = info.panels[row]
    note = (
        f'  <span style="color:{palette(theme).quiet_text}">{plain_text(panel.note)}</span>'
        if panel.note
        else ""
    )
    # Panels whose bars have texts end in an empty strip. A name may reach into it; else it would lie over the
    # panel above.
    upper = info.top(row) + PANELS.name / (PANELS.panel + PANELS.name) / len(info.panels)
    return {
        "text": f"<b>{plain_text(panel.name)}</b>{note}",
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "y": upper if info.labelled else info.top(row),
        "yref": "paper",
        "yanchor": "top" if info.labelled else "bottom",
        "showarrow": False,
        "font": {"size": 12},
    }
