"""One square for each head of a network, with the colour and the sign of the head's role."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from viz.labels import plain_text, template_text
from viz.mosaic_layout import MosaicInfo, mosaic_info, mosaic_layout, square_markers
from viz.theme import palette


def role_mosaic(
    roles: Mapping[str, Sequence[Sequence[str]]],
    labels: Mapping[str, tuple[str, str]],
    *,
    details: Mapping[str, Sequence[Sequence[str]]] | None = None,
    names: Mapping[str, str] | None = None,
    title: str = "",
    layer_title: str = "Layer",
    head_title: str = "Head",
    theme: str = "light",
) -> go.Figure:
    """The squares of ``head_mosaic``, each with the colour and the sign of the head's role; the legend names the roles there are.

    Args:
        roles: by kind, for each layer the role of each head.
        labels: by role the sign that stands in a square, one character, and what the legend calls it. The last role
            is the one of heads without any; its colour is quiet.
        details: by kind, for each layer what the hover adds about each head.

    Raises ValueError for a role without a label, for more roles than there are colours, and for an unknown theme.

    >>> labels = {"copy": ("C", "copies"), "next": ("N", "next character"), "broad": ("·", "looks broadly")}
    >>> figure = role_mosaic({"cross_attention": [["copy", "next"], ["copy", "broad"]]}, labels)
    >>> [trace.name for trace in figure.data if trace.name]
    ['C copies', 'N next character', '· looks broadly']
    """
    found = {role for grid in roles.values() for row in grid for role in row}
    if strange := sorted(found - set(labels)):
        raise ValueError(f"each role should have a label, received {strange}")
    order = list(labels)
    distinct = palette(theme).qualitative[: len(order) - 1]
    if len(order) > len(distinct) + 1:
        raise ValueError(f"at most {len(distinct) + 1} roles have colours, received {len(order)}")
    colours = [*distinct, palette(theme).grid]
    grids = {kind: [[order.index(role) for role in row] for row in grid] for kind, grid in roles.items()}
    info = mosaic_info(grids, names, (), None)
    figure = go.Figure(layout=mosaic_layout(info, title, layer_title, theme))
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
        figure.add_trace(square_markers(info, (layer_title, head_title), told))
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
    """Black or white, whichever stands out more from ``colour`` (WCAG 2.2, relative luminance)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    luminance = float(np.dot(linear, (0.2126, 0.7152, 0.0722)))
    return "#ffffff" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "#000000"
