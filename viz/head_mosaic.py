"""One square for each head of a network, coloured by a number."""

from collections.abc import Collection, Mapping

import numpy as np
import plotly.graph_objects as go

from viz.figure import weight_scale
from viz.labels import plain_text, template_text
from viz.mosaic_layout import MosaicHead, MosaicInfo, mosaic_info, mosaic_layout, square_markers
from viz.theme import colour_scale, palette


def head_mosaic(
    values: Mapping[str, np.ndarray],
    *,
    margins: Mapping[str, np.ndarray] | None = None,
    signed: bool = True,
    names: Mapping[str, str] | None = None,
    title: str = "",
    layer_title: str = "Layer",
    head_title: str = "Head",
    value_title: str = "Change in nats",
    chosen: Collection[MosaicHead] = (),
    largest: float | None = None,
    theme: str = "light",
) -> go.Figure:
    """One square for each head: kinds of attention side by side, layers from top to bottom, heads to the right.

    The colours of ``signed`` values diverge from 0, those of others begin at 0. A head without a value (nan) has no
    colour but a dash. The hover names the head; each square has an invisible marker whose ``customdata`` is
    ``(kind, layer, head)``, counted from 0, so that a page can react to a click.

    Args:
        values: (L, H) floats by kind, such as ``HeadEffects.grid``; each kind has its own.
        margins: (L, H) by kind, half of the width of each value's interval; told in the hover.
        names: what to call each kind; by default as it is.
        chosen: heads that are framed.
        largest: the value of the strongest colour; by default the largest size there is.

    Raises ValueError for grids of another rank or with infinite values, for margins of another shape, for negative
    values that are not ``signed``, for chosen heads that do not exist, a ``largest`` that is not finite and positive,
    and an unknown theme.

    >>> figure = head_mosaic({"cross_attention": np.array([[-1.5, 0.25], [0.0, 2.0]])})
    >>> figure.data[0].z.tolist()
    [[-1.5, 0.25], [0.0, 2.0]]
    """
    info = mosaic_info(values, names, chosen, largest)
    margins = {kind: np.asarray(grid, float) for kind, grid in (margins or {}).items()}
    for kind, grid in margins.items():
        if kind in info.grids and grid.shape != info.grids[kind].shape:
            raise ValueError(
                f"margins of {kind} should have the shape {info.grids[kind].shape}, received {grid.shape}"
            )
    if not signed and any((grid < 0).any() for grid in info.grids.values()):
        raise ValueError("values below 0 need colours for both signs")
    figure = go.Figure(layout=mosaic_layout(info, title, layer_title, theme))
    for number, kind in enumerate(info.kinds):
        figure.add_trace(_squares(info, kind, value_title, number == 0, signed, theme))
    if info.kinds:
        if any(np.isnan(grid).any() for grid in info.grids.values()):
            figure.add_trace(_dashes(info, theme))
        told = _told(info, margins, value_title, signed)
        figure.add_trace(square_markers(info, (layer_title, head_title), told))
    return figure


def _squares(
    info: MosaicInfo, kind: str, title: str, with_scale: bool, signed: bool, theme: str
) -> go.Heatmap:
    scale = weight_scale(plain_text(title), info.height)
    scale |= {"lenmode": "fraction", "len": 1, "nticks": 5, "tickformat": "~g"}
    colours = palette(theme)
    return go.Heatmap(
        z=info.grids[kind],
        x0=info.starts[kind],
        dx=1,
        zmin=-info.largest if signed else 0,
        zmax=info.largest,
        colorscale=colour_scale(colours.diverging if signed else colours.sequential),
        showscale=with_scale,
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
    """What the hover says about the value of each head."""
    told = []
    for kind, layer, head in info.heads:
        value = info.grids[kind][layer, head]
        shown = "–" if np.isnan(value) else f"{value:{'+' if signed else ''}.3f}"
        margin = margins[kind][layer, head] if kind in margins else np.nan
        interval = f" ± {margin:.3f}" if np.isfinite(margin) else ""
        told.append(f"{template_text(title)}: <b>{shown}</b>{interval}")
    return told
