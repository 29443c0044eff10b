"""Figures that several views draw: before and after, parts of a sum, one map."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

import viz
from ui.sentence.state import SentenceState
from ui.wording import say
from viz.browser.texts import map_texts
from viz.figure import Specification


def before_after(
    state: SentenceState, rows: Sequence[viz.Measured], title: str, names: tuple[str, str] | None = None
) -> Specification:
    """Two points a row; ``names`` of both, by default those of an observed and an intervened value."""
    names = names or (say("sources_observed"), say("sources_intervened"))
    captions = viz.Captions(titles=(title,), names=names, theme=state.theme)
    return viz.before_after.specification(rows, captions=captions)


def sum_of_parts(
    state: SentenceState,
    amounts: Sequence[viz.Amount],
    rest: Sequence[float],
    title: str,
    sides: tuple[str, str],
) -> Specification:
    """A bar for each of ``amounts``, one for all of ``rest`` together, and their sum."""
    others = [viz.Amount(say("wrote_rest", count=len(rest)), sum(rest))] if rest else []
    captions = viz.Captions(titles=(title,), names=(say("wrote_sum"), *sides), theme=state.theme)
    return viz.waterfall.specification([*amounts, *others], captions=captions)


def attention_map(
    state: SentenceState,
    weights: np.ndarray,
    axes: tuple[tuple[str, ...], tuple[str, ...]],
    rows: Sequence[int] = (),
    masked: np.ndarray | None = None,
    kind: str | None = None,
    *,
    difference: bool = False,
) -> go.Figure:
    """Weights (Q, K), by default of the open kind of attention, as a heatmap; ``rows`` are emphasised.

    ``difference``: of two maps, ``masked`` where one of them has no counterpart.
    """
    masked_text = "beside_missing" if difference else "masked"
    return viz.attention_heatmap(
        weights,
        *axes,
        texts=map_texts(say, kind or state.kind, difference=difference, masked=masked_text),
        masked=masked,
        difference=difference,
        colour_max=None if difference else 1.0,
        emphasis_rows=list(rows),
        extent=max(state.extent, *map(len, axes)),
        theme=state.theme,
    )
