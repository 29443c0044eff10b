"""Which tokens a produced token comes from: one small panel for each attribution method, all over the same tokens."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.figure import TITLE_HEIGHT, base_axis, base_layout, figure_title
from viz.labels import plain_text, template_text, token_label
from viz.theme import palette
from viz.token_axis import cell_size, column_ticks

_PANEL, _NAME, _FOOT, _LEGEND = 52, 22, 40, 26  # pixels


@dataclass(frozen=True)
class MethodPanel:
    """What one method says: (K,) values over the tokens, and how it got them.

    ``intervened``: the network was asked again with something changed; otherwise the values are read from the pass as it was.
    ``values`` are None while they are not known: the panel shows its name and an empty place.
    ``note`` stands beside the name, such as how well the method agrees with the reference. ``labels``: a text above each bar.

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
    panel: int = _PANEL,
    theme: str = "light",
) -> go.Figure:
    """Small multiples on one axis: K tokens, and for each of the panels a row of bars.

    Methods have different units, so each panel is scaled to its own largest size; compare the shapes only. Bars
    below the line speak against what was written. Observed and intervened values differ in colour and in pattern, so
    that they can be told apart in a grey print, too.

    Args:
        panels: any number; one whose values are all 0 has no bars.
        tokens: K tokens as they were typed; escaped here.
        outlined: tokens with bold labels, such as those of the edit.
        split: the first token of a second group, such as what was written before; a line is drawn there.
        panel: pixels that the bars of a panel have where the window has room for them.

    Raises ValueError for values of another length or not finite, for tokens that do not exist, and for an unknown
    theme.

    >>> panels = [MethodPanel("rollout", np.array([0.2, 0.8])), MethodPanel("left out", np.array([-1.0, 4.0]), True)]
    >>> figure = contribution_panels(panels, ["가", "방"])
    >>> [bars.y.tolist() for bars in figure.data]  # each divided by its largest size
    [[0.25, 1.0], [-0.25, 1.0]]
    """
    info = _info(panels, tokens, outlined, split, panel)
    figure = go.Figure(layout=_layout(info, title, token_title, theme))
    shown = set()
    for row, each in enumerate(info.panels):
        name = intervened_name if each.intervened else observed_name
        figure.add_trace(_bars(info, row, name, name not in shown, (token_title, value_title), theme))
        shown.add(name)
    return figure


_MAY_SHRINK = 26  # pixels that each panel gives up on a low window
_LABELLED_TOP = 2.2  # end of the axis where bars have texts: on the lowest window there is still room for a line above a bar of 1


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
        return _FOOT + column_ticks(self.tokens, cell_size(len(self.tokens))).height

    @property
    def height(self) -> float:
        return self.height_with((_PANEL + _NAME) * self.panel / _PANEL)

    @property
    def least(self) -> float:
        return self.height_with(_PANEL + _NAME - _MAY_SHRINK)

    def height_with(self, row: float) -> float:
        """The height of a figure whose panels have so many pixels each, their names included."""
        return TITLE_HEIGHT + _LEGEND + max(len(self.panels), 1) * row + self.foot

    def top(self, row: int) -> float:
        """Where a panel begins, as a share of the room of all panels, 1 at the top."""
        return 1 - (row + _NAME / (_PANEL + _NAME)) / max(len(self.panels), 1)


def _info(
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


def _axis(row: int) -> str:
    return "y" if row == 0 else f"y{row + 1}"


def _bars(
    info: _PanelsInfo, row: int, name: str, in_legend: bool, titles: tuple[str, str], theme: str
) -> go.Bar:
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
        showlegend=in_legend,
        hovertemplate=f"{template_text(panel.name)}<br>{token_title} %{{x:d}}: <b>%{{text}}</b>"
        f"<br>%{{customdata:.4f}} · {value_title}: <b>%{{y:.2f}}</b><extra>{template_text(name)}</extra>",
    )


def _layout(info: _PanelsInfo, title: str, token_title: str, theme: str) -> go.Layout:
    return go.Layout(
        base_layout(theme)
        | _value_axes(info, theme)
        | {
            "title": figure_title(plain_text(title), info.height),
            "xaxis": _token_axis(info, token_title, theme),
            "height": info.height,
            "margin": {"t": TITLE_HEIGHT + _LEGEND, "l": 24, "r": 16, "b": info.foot},
            "annotations": [_name(info, row, theme) for row in range(len(info.panels))],
            "shapes": [_split_line(info.split, theme)] if info.split is not None and info.panels else [],
            "legend": {
                "orientation": "h",
                "x": 0,
                "yref": "container",
                "y": 1 - TITLE_HEIGHT / info.height,
                "yanchor": "top",
                "itemclick": False,
                "itemdoubleclick": False,
                "bgcolor": "rgba(0,0,0,0)",
            },
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
    share = _PANEL / (_PANEL + _NAME) / rows
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
    """The texts above the bars need the room that values below the line would take, where there are none."""
    return [-1.05 if (info.values[row] < 0).any() else -0.02, _LABELLED_TOP]


def _token_axis(info: _PanelsInfo, title: str, theme: str) -> dict:
    ticks = column_ticks(info.tokens, cell_size(len(info.tokens)))
    return base_axis(theme, plain_text(title)) | {
        "anchor": _axis(max(len(info.panels), 1) - 1),
        "range": [-0.5, max(len(info.tokens), 1) - 0.5],
        "tickmode": "array",
        "tickvals": list(ticks.positions),
        "ticktext": ticks.below(info.outlined),
        "tickangle": ticks.angle,
        "tickfont": {"size": cell_size(len(info.tokens)).font},
        "showgrid": False,
        "fixedrange": True,
    }


def _split_line(split: int, theme: str) -> dict:
    return {
        "type": "line",
        "x0": split - 0.5,
        "x1": split - 0.5,
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "line": {"color": palette(theme).quiet_text, "dash": "dot", "width": 1},
    }


def _name(info: _PanelsInfo, row: int, theme: str) -> dict:
    panel = info.panels[row]
    note = (
        f'  <span style="color:{palette(theme).quiet_text}">{plain_text(panel.note)}</span>'
        if panel.note
        else ""
    )
    # Panels whose bars have texts end in an empty strip. A name may reach into it; else it would lie over the panel above.
    upper = info.top(row) + _NAME / (_PANEL + _NAME) / len(info.panels)
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
