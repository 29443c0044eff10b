"""Bar charts over the tokens of a sentence: attention by head, input attribution."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from viz.axes import ColumnTicks, cell_size, column_ticks
from viz.figure import TITLE_HEIGHT, base_axis, base_layout, checked_array, legend_across, upright_line
from viz.labels import plain_text, template_text, token_label
from viz.theme import palette


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

    def top(self, row: int, panels: int) -> float:
        """Where panel ``row`` of so many begins, as a share of the height of all panels; 1 is the top."""
        return 1 - (row + self.name / (self.panel + self.name)) / max(panels, 1)

    def axes(self, theme: str, ranges: Sequence[Sequence[float]], **parts: Any) -> dict:
        """The vertical axes of panels below one another, each with its range of values."""
        share = self.panel / (self.panel + self.name) / len(ranges)
        tops = [self.top(row, len(ranges)) for row in range(len(ranges))]
        return {
            f"yaxis{row + 1}": base_axis(theme, "", range=span, domain=[max(top - share, 0), top], **parts)
            for row, (span, top) in enumerate(zip(ranges, tops, strict=True))
        }


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
    def count(self) -> int:
        """Panels."""
        return len(self.names)

    @property
    def highest(self) -> float:
        return float(self.weights.max(initial=0)) or 1.0

    @cached_property
    def ticks(self) -> ColumnTicks:
        return column_ticks(self.tokens, cell_size(len(self.tokens)))

    @property
    def above(self) -> float:
        """Pixels above the panels."""
        return TITLE_HEIGHT + (BARS.legend if self.outlined else 0)

    @property
    def foot(self) -> float:
        """Pixels below the panels."""
        return self.ticks.height + BARS.foot

    @property
    def height(self) -> float:
        """The figure's height in pixels."""
        return self.above + max(len(self.names), 1) * (BARS.panel + BARS.name) + self.foot

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
    expected = len(names), len(tokens)
    weights = checked_array(("weights", "(R, K)", "of names and tokens"), weights, expected, (0, 1))
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


def _layout(info: _BarsInfo, title: str, token_title: str, theme: str) -> go.Layout:
    # A little room above and below, so that no outline is cut in half.
    ranges = [[-0.02 * info.highest, 1.04 * info.highest]] * max(len(info.names), 1)
    legend = legend_across(1 - TITLE_HEIGHT / info.height, "top", container=True, fixed=True)
    return go.Layout(
        base_layout(theme, title, info.height)
        | BARS.axes(theme, ranges, nticks=4, tickformat="~g", automargin=True)
        | {
            "xaxis": _token_axis(info, token_title, theme, info.first),
            "margin": {"t": info.above, "l": 40, "r": 16, "b": info.foot},
            "annotations": [
                _panel_name(plain_text(name), BARS.top(row, len(info.names)), yanchor="bottom", yshift=2)
                for row, name in enumerate(info.names)
            ],
            "legend": legend | {"orientation": "v", "xanchor": "left"},
        }
    )


def _token_axis(info: "_BarsInfo | _PanelsInfo", title: str, theme: str, first: int = 0) -> dict:
    """The axis below the last of the panels, whose ticks are tokens from x = ``first``."""
    ticks = info.ticks
    span = [first - 0.5, first + max(ticks.count, 1) - 0.5]
    anchor = _axis(max(info.count - 1, 0))
    return ticks.axis(theme, title, ticks.below(info.outlined), first, anchor=anchor, range=span)


def _panel_name(text: str, y: float, **parts: Any) -> dict:
    """The name above a panel, at the height ``y`` as a share of the room of all panels."""
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": y, "yref": "paper"}
    return {"text": text, "showarrow": False} | place | parts


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


# End of the axis where bars have texts: the lowest window still has room for a line above a bar of 1.
_LABELLED_TOP = 2.2


@dataclass(frozen=True)
class _PanelsInfo:
    panels: tuple[MethodPanel, ...]
    values: np.ndarray  # (R, K) in -1..1, each row divided by its largest size
    tokens: tuple[str, ...]  # (K,)
    outlined: frozenset[int]
    split: int | None
    panel: int  # pixels

    @property
    def count(self) -> int:
        return len(self.panels)

    @property
    def signed(self) -> bool:
        return bool((self.values < 0).any())

    @property
    def labelled(self) -> bool:
        return any(panel.labels for panel in self.panels)

    @cached_property
    def ticks(self) -> ColumnTicks:
        return column_ticks(self.tokens, cell_size(len(self.tokens)))

    @property
    def foot(self) -> float:
        """Height in pixels below the panels."""
        return PANELS.foot + self.ticks.height

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
    # One range for all: a panel without negative values has its line where the others have it.
    usual = [-1.05 if info.signed else -0.02, 1.4 if info.labelled else 1.05]
    rows = enumerate(info.panels)
    ranges = [_labelled_range(info, row) if panel.labels else usual for row, panel in rows] or [usual]
    quiet = palette(theme).quiet_text
    line = upright_line((info.split or 0) - 0.5, {"color": quiet, "dash": "dot", "width": 1})
    zero = {"zeroline": True, "zerolinecolor": quiet}
    return go.Layout(
        base_layout(theme, title, info.height)
        | PANELS.axes(theme, ranges, showticklabels=False, showgrid=False, fixedrange=True, **zero)
        | {
            "xaxis": _token_axis(info, token_title, theme) | {"fixedrange": True},
            "margin": {"t": TITLE_HEIGHT + PANELS.legend, "l": 24, "r": 16, "b": info.foot},
            "annotations": [_panels_name(info, row, theme) for row in range(len(info.panels))],
            "shapes": [line] if info.split is not None and info.panels else [],
            "legend": legend_across(1 - TITLE_HEIGHT / info.height, "top", container=True, fixed=True),
            "bargap": 0.2,
            "meta": {"fit": "fill", "least": info.least, "tokens": max(len(info.tokens), 1)},
        }
    )


def _labelled_range(info: _PanelsInfo, row: int) -> list[float]:
    """The texts above the bars take the room of values below the line in panels without such values."""
    return [-1.05 if (info.values[row] < 0).any() else -0.02, _LABELLED_TOP]


def _panels_name(info: _PanelsInfo, row: int, theme: str) -> dict:
    panel, count = info.panels[row], len(info.panels)
    quiet = palette(theme).quiet_text
    note = f'  <span style="color:{quiet}">{plain_text(panel.note)}</span>' if panel.note else ""
    # Panels whose bars have texts end in an empty strip. A name may reach into it; else it would lie over the
    # panel above.
    upper = PANELS.name / (PANELS.panel + PANELS.name) / count if info.labelled else 0
    anchor = "top" if info.labelled else "bottom"
    y = PANELS.top(row, count) + upper
    return _panel_name(f"<b>{plain_text(panel.name)}</b>{note}", y, yanchor=anchor, font={"size": 12})
