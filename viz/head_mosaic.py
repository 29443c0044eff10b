"""Mosaic of a network's heads: a square for each, coloured by its effect or its role."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from viz.axes import named_axis
from viz.figure import (
    PLAIN,
    TITLE_HEIGHT,
    Captions,
    base_layout,
    legend_across,
    rectangle,
    weight_scale,
)
from viz.labels import decimal, plain_text, template_text
from viz.theme import colour_scale, palette

MosaicHead = tuple[str, int, int]  # kind, layer and head, both counted from 0

# Pixels; the kinds and the heads' numbers are part of the names.
_CELL, _NAMES, _KINDS, _FOOT = 34, 76, 42, 12
_GAP = 0.8  # cells between the kinds
_FRAME = 0.06  # cells around all, where half of an outer frame lies


@dataclass(frozen=True)
class MosaicInfo:
    grids: dict[str, np.ndarray]  # (L, H) float32 by kind
    starts: dict[str, float]  # the x of each kind's first head
    names: dict[str, str]
    chosen: tuple[MosaicHead, ...]
    largest: float

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind, grid in self.grids.items() if grid.size)

    @property
    def heads(self) -> list[MosaicHead]:
        return [(kind, *place) for kind in self.kinds for place in np.ndindex(self.grids[kind].shape)]

    @property
    def layers(self) -> int:
        return max((len(grid) for grid in self.grids.values()), default=0)

    @property
    def width(self) -> float:
        """In cells."""
        return sum(grid.shape[1] + _GAP for grid in self.grids.values()) - _GAP if self.kinds else 1.0

    @property
    def height(self) -> float:
        """The figure's height in pixels."""
        return TITLE_HEIGHT + _NAMES + max(self.layers, 1) * _CELL + _FOOT

    def places(self, heads: Sequence[MosaicHead]) -> dict[str, list[float]]:
        """x and y of the squares of ``heads``."""
        return {
            "x": [self.starts[kind] + head for kind, _, head in heads],
            "y": [layer for _, layer, _ in heads],
        }


def _mosaic_info(
    values: Mapping[str, ArrayLike],
    names: Mapping[str, str] | None,
    chosen: Collection[MosaicHead],
    largest: float | None,
) -> MosaicInfo:
    grids = {kind: np.asarray(grid, np.float32) for kind, grid in values.items()}
    for kind, grid in grids.items():
        if grid.ndim != 2 or np.isinf(grid).any():
            raise ValueError(f"values of {kind} should be (L, H) and finite, received {grid.shape}: {grid}")
    starts, place = {}, 0.0
    for kind, grid in grids.items():
        starts[kind] = place
        place += grid.shape[1] + _GAP
    known = {(kind, *place) for kind, grid in grids.items() for place in np.ndindex(grid.shape)}
    framed = tuple((kind, layer, head) for kind, layer, head in chosen)
    if strange := [each for each in framed if each not in known]:
        raise ValueError(f"chosen should be heads of the values, received {strange}")
    if largest is None:
        sizes = np.concatenate([np.abs(grid).ravel() for grid in grids.values()] or [np.zeros(0)])
        largest = float(np.nanmax(sizes, initial=0)) or 1.0
    if not 0 < largest < np.inf:
        raise ValueError(f"largest should be finite and positive, received {largest}")
    called = {kind: (names or {}).get(kind, kind) for kind in grids}
    return MosaicInfo(grids, starts, called, framed, largest)


def _square_markers(info: MosaicInfo, told: Sequence[str]) -> go.Scatter:
    texts = [
        f"{template_text(info.names[kind])} {layer + 1}·{head + 1}<br>{text}"
        for (kind, layer, head), text in zip(info.heads, told, strict=True)
    ]
    return go.Scatter(
        **info.places(info.heads),
        customdata=[list(head) for head in info.heads],
        text=texts,
        mode="markers",
        marker={"symbol": "square", "size": 20, "opacity": 0},
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )


def _mosaic_layout(info: MosaicInfo, captions: Captions) -> go.Layout:
    """The captions have the title of the layers."""
    theme, colours = captions.theme, palette(captions.theme)
    heads = [
        (info.starts[kind] + head, head) for kind in info.kinds for head in range(info.grids[kind].shape[1])
    ]
    frames = [
        rectangle(
            (info.starts[kind] + head - 0.5, info.starts[kind] + head + 0.5),
            (layer - 0.5, layer + 0.5),
            colours.accent,
            3,
        )
        for kind, layer, head in info.chosen
    ]
    kinds = [
        {
            "text": plain_text(info.names[kind]),
            "x": info.starts[kind] + (info.grids[kind].shape[1] - 1) / 2,
            "xanchor": "center",
            "y": -0.5,
            "yanchor": "bottom",
            "yshift": 20,
            "showarrow": False,
            "font": {"size": 12, "color": colours.text},
        }
        for kind in info.kinds
    ]
    numbers = [str(head + 1) for _, head in heads]
    across = [-0.5 - _FRAME, info.width - 0.5 + _FRAME]
    down = [max(info.layers, 1) - 0.5 + _FRAME, -0.5 - _FRAME]
    layers = [str(layer + 1) for layer in range(info.layers)]
    places = [place for place, _ in heads]
    return go.Layout(
        base_layout(theme, captions.title, info.height)
        | {
            "xaxis": named_axis(theme, "", numbers, places, side="top", range=across, fixedrange=True),
            "yaxis": named_axis(
                theme, captions.titles[0], layers, range=down, automargin=True, fixedrange=True
            ),
            "annotations": kinds,
            "shapes": frames,
            "margin": {"t": TITLE_HEIGHT + _NAMES, "l": 34, "r": 12, "b": _FOOT},
            "hoverdistance": 300,
            # It grows upwards where a phone breaks it into lines: eight roles are four lines.
            "legend": legend_across(
                1 - (TITLE_HEIGHT + _NAMES - _KINDS) / info.height, "bottom", container=True
            )
            | {"entrywidth": 108, "font": {"size": 11}},
        }
    )


def head_mosaic(
    values: Mapping[str, np.ndarray],
    *,
    margins: Mapping[str, np.ndarray] | None = None,
    signed: bool = True,
    helps_below: bool = False,
    names: Mapping[str, str] | None = None,
    title: str = "",
    layer_title: str = "Layer",
    value_title: str = "Change in nats",
    key: str = "",
    chosen: Collection[MosaicHead] = (),
    largest: float | None = None,
    theme: str = "light",
) -> go.Figure:
    """One square for each head: kinds of attention side by side, layers from top to bottom, heads to the
    right.

    The colours of ``signed`` values diverge from 0: red is above it, or below it where a fall shows that the
    head ``helps_below``, so that red is for the answer in all pictures. Others begin at 0. A head without a
    value (nan) has no colour but a dash. The hover names the head; each square has an invisible marker whose
    ``customdata`` is ``(kind, layer, head)``, counted from 0, so that a page can react to a click.

    Args:
        values: (L, H) floats by kind, such as ``HeadEffects.grid``; each kind has its own.
        margins: (L, H) by kind, half of the width of each value's interval, for the hover.
        names: a name for each kind; by default the kind.
        key: a second line beside the colour bar, which says what its colours mean.
        chosen: heads that are framed.
        largest: the value of the strongest colour; by default the largest absolute value.

    Raises:
        ValueError: grids of another rank or with infinite values, for margins of another shape, for
            negative values that are not ``signed``, for chosen heads that do not exist, a ``largest``
            that is not finite and positive, and an unknown theme.

    Example:
        >>> figure = head_mosaic({"cross_attention": np.array([[-1.5, 0.25], [0.0, 2.0]])})
        >>> figure.data[0].z.tolist()
        [[-1.5, 0.25], [0.0, 2.0]]
    """
    info = _mosaic_info(values, names, chosen, largest)
    margins = {kind: np.asarray(grid, float) for kind, grid in (margins or {}).items()}
    for kind, grid in margins.items():
        if kind in info.grids and grid.shape != info.grids[kind].shape:
            raise ValueError(
                f"margins of {kind} should have the shape {info.grids[kind].shape}, received {grid.shape}"
            )
    if not signed and any((grid < 0).any() for grid in info.grids.values()):
        raise ValueError("values below 0 need colours for both signs")
    figure = go.Figure(layout=_mosaic_layout(info, Captions(title, (layer_title,), theme=theme)))
    diverging, sequential = palette(theme).diverging, palette(theme).sequential
    colours = (diverging[::-1] if helps_below else diverging) if signed else sequential
    for number, kind in enumerate(info.kinds):
        squares = _squares(info, kind, (value_title, key), signed, colours)
        figure.add_trace(squares.update(showscale=number == 0))
    if info.kinds:
        if any(np.isnan(grid).any() for grid in info.grids.values()):
            figure.add_trace(_dashes(info, theme))
        told = _told(info, margins, value_title, signed)
        figure.add_trace(_square_markers(info, told))
    return figure


def _squares(
    info: MosaicInfo, kind: str, titles: Sequence[str], signed: bool, colours: Sequence[str]
) -> go.Heatmap:
    scale = weight_scale("", info.height)
    scale |= {"lenmode": "fraction", "len": 1, "nticks": 5, "tickformat": "~g"}
    scale["title"]["text"] = "<br>".join(plain_text(title) for title in titles if title)
    return go.Heatmap(
        z=info.grids[kind],
        x0=info.starts[kind],
        dx=1,
        zmin=-info.largest if signed else 0,
        zmax=info.largest,
        colorscale=colour_scale(tuple(colours)),
        colorbar=scale,
        xgap=2,
        ygap=2,
        hoverinfo="skip",
    )


def _dashes(info: MosaicInfo, theme: str) -> go.Scatter:
    """A dash for each head that has no value."""
    heads = [each for each in info.heads if np.isnan(info.grids[each[0]][each[1:]])]
    return go.Scatter(
        **info.places(heads),
        mode="text",
        text=["–"] * len(heads),
        textfont={"color": palette(theme).quiet_text},
        hoverinfo="skip",
        showlegend=False,
    )


def _told(info: MosaicInfo, margins: Mapping[str, np.ndarray], title: str, signed: bool) -> list[str]:
    """The hover's line about the value of each head."""
    told = []
    for kind, layer, head in info.heads:
        value = info.grids[kind][layer, head]
        margin = margins[kind][layer, head] if kind in margins else np.nan
        interval = f" ± {margin:.3f}" if np.isfinite(margin) else ""
        told.append(f"{template_text(title)}: <b>{decimal(value, 3, signed=signed)}</b>{interval}")
    return told


def role_mosaic(
    roles: Mapping[str, Sequence[Sequence[str]]],
    labels: Mapping[str, tuple[str, str]],
    *,
    details: Mapping[str, Sequence[Sequence[str]]] | None = None,
    names: Mapping[str, str] | None = None,
    captions: Captions = PLAIN,
) -> go.Figure:
    """The squares of ``head_mosaic``, each with the colour and the sign of the head's role; the legend names
    the roles that occur.

    Args:
        roles: by kind, for each layer the role of each head.
        labels: by role the sign in its squares, one character, and its name in the legend. The last role
            is the one of heads without any; its colour is quiet.
        details: by kind, for each layer the hover's note on each head.
        captions: the title of the layers.

    Raises:
        ValueError: a role without a label, for more roles than colours, and for an unknown
            theme.

    Example:
        >>> labels = {"copy": ("C", "copies"), "next": ("N", "next"), "broad": ("·", "looks broadly")}
        >>> figure = role_mosaic({"cross_attention": [["copy", "next"], ["copy", "broad"]]}, labels)
        >>> [trace.name for trace in figure.data if trace.name]
        ['C copies', 'N next', '· looks broadly']
    """
    found = {role for grid in roles.values() for row in grid for role in row}
    if strange := sorted(found - set(labels)):
        raise ValueError(f"each role should have a label, received {strange}")
    order, theme = list(labels), captions.theme
    distinct = palette(theme).qualitative[: len(order) - 1]
    if len(order) > len(distinct) + 1:
        raise ValueError(f"at most {len(distinct) + 1} roles have colours, received {len(order)}")
    colours = [*distinct, palette(theme).grid]
    grids = {kind: [[order.index(role) for role in row] for row in grid] for kind, grid in roles.items()}
    info = _mosaic_info(grids, names, (), None)
    figure = go.Figure(layout=_mosaic_layout(info, captions.or_else(("Layer",))))
    for kind in info.kinds:
        figure.add_trace(_role_squares(info, kind, colours))
    for number, role in enumerate(order):
        if role in found:
            figure.add_trace(_role_signs(info, number, labels[role], colours[number]))
    if info.kinds:
        told = []
        for kind, layer, head in info.heads:
            more = details[kind][layer][head] if details and kind in details else ""
            parts = labels[roles[kind][layer][head]][1], more
            told.append("<br>".join(template_text(text) for text in parts if text))
        figure.add_trace(_square_markers(info, told))
    return figure


def _role_squares(info: MosaicInfo, kind: str, colours: Sequence[str]) -> go.Heatmap:
    """Role number n lies between n - 0.5 and n + 0.5."""
    steps = [place for number in range(len(colours)) for place in (number, number + 1)]
    scale = [[place / len(colours), colours[number // 2]] for number, place in enumerate(steps)]
    return go.Heatmap(
        z=info.grids[kind],
        x0=info.starts[kind],
        dx=1,
        zmin=-0.5,
        zmax=len(colours) - 0.5,
        colorscale=scale,
        showscale=False,
        xgap=2,
        ygap=2,
        hoverinfo="skip",
    )


def _role_signs(info: MosaicInfo, number: int, label: tuple[str, str], colour: str) -> go.Scatter:
    sign, name = label
    heads = [each for each in info.heads if info.grids[each[0]][each[1:]] == number]
    return go.Scatter(
        **info.places(heads),
        mode="markers+text",
        marker={"symbol": "square", "size": 16, "color": colour},
        text=[plain_text(sign)] * len(heads),
        textfont={"color": _readable_on(colour), "size": 15},
        name=plain_text(f"{sign} {name}"),
        hoverinfo="skip",
    )


def _readable_on(colour: str) -> str:
    """Black or white, the one with more contrast to ``colour`` (WCAG 2.2, relative luminance)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    luminance = float(np.dot(linear, (0.2126, 0.7152, 0.0722)))
    return "#ffffff" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "#000000"
