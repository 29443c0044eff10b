"""Figure templates of the static site, and the layout constants of its scripts.

No Python runs in the browser, where the sentence changes with each key. So the page holds the figures that
``viz`` made of one sentence, and ``js/figures.js`` and ``js/charts.js`` write the tokens and numbers of
another one into them. Tests compare the result with the figure that ``viz`` makes of the same sentence.
"""

import json
from typing import Any

import numpy as np
import plotly.graph_objects as go

import viz
from model.activations import drafting
from model.activations.sublayers import positional_encoding
from model.trace.trace import AttentionTrace
from viz import axes, labels
from viz.bars import BARS, PANELS, contribution_panels
from viz.browser.explore_data import explorer_data
from viz.browser.plot import plot_data
from viz.browser.texts import Say, kind_names
from viz.figure import TITLE_HEIGHT
from viz.head_grid import MOST_CELLS
from viz.number_table import TABLE

POSITIONS = 64  # rows of the picture of the positional encoding
CURVES = (10, 11, 30, 31)  # dimensions whose curves are drawn, as far as the network has them
LEADING = 3  # heads whose bars are shown
METHODS = ("occlusion", "attention")
_TOKENS = ("가", "나")
# Left out of a template, since they are of one sentence only and large.
_FILLED = ("weights", "cross", "self", "alternatives", "alternative_probabilities", "probabilities")


def template(say: Say, trace: AttentionTrace, theme: str, width: int) -> dict[str, Any]:
    """The figures of ``trace`` without its numbers, in which those of any other trace of the same network can
    be filled in.

    ``width``: D of the network.
    """
    data = explorer_data(say, trace, theme)
    for kind in data["kinds"]:
        kind.pop("weights")
    for name in _FILLED:
        data["steps"].pop(name, None)
    data["words"]["note"] = say("site_note")
    data["change_labels"] = {
        name: say(f"steps_change_{name}", wrong=wrong, right=right) for name, (wrong, right) in _SIDES.items()
    }
    data["token_name"] = say("lines_name", token="{token}", place="{place}")
    data["more"] = further_figures(say, trace, width, theme)
    return data


_SIDES = {"replaced": ("{wrong}", "{right}"), "inserted": ("", "{right}"), "deleted": ("{wrong}", "")}


def constants() -> dict[str, Any]:
    """Numbers of ``model`` and ``viz`` by the names that the site's scripts use.

    Example:
        >>> constants()["TITLE_HEIGHT"], constants()["BARS"]["panel"]
        (34, 84)
    """
    of_axes = "DESIGN_WIDTH LARGEST_CELL SMALLEST_SQUARE_CELL SMALLEST_FONT LARGEST_FONT MOST_STEPS"
    names = {
        axes: f"{of_axes} MOST_LABELLED_ROWS HEIGHT_OF_MANY_ROWS",
        drafting: "PASSES ALTERNATIVES",
        labels: "TICK_LENGTH NARROW_EM MOST_ODDS SHARP_ODDS CERTAIN IMPOSSIBLE",
    }
    found = {name: getattr(module, name) for module, text in names.items() for name in text.split()}
    tables = {"BARS": BARS._asdict(), "PANELS": PANELS._asdict(), "TABLE": TABLE._asdict()}
    return found | tables | {"TITLE_HEIGHT": TITLE_HEIGHT, "MOST_CELLS": MOST_CELLS}


def further_figures(say: Say, trace: AttentionTrace, width: int, theme: str) -> dict[str, Any]:
    """Templates by name of the figures besides those of ``explore.js``; ``views.js`` writes the numbers of a
    sentence into them.

    A word that differs from figure to figure is a placeholder: ``{name}``.

    Args:
        width: D of the network.
    """
    figures = {
        "edits": _bars(LEADING, theme),
        "received": _bars(1, theme),
        "panels": _panels(say, theme),
        **_of_heads(say, trace, theme),
        "table": _table(viz.SIGNED, False, theme),
        "steps": _steps(say, theme),
        **_positions(say, width, theme),
    }
    found = {name: _template(say, figure, theme) for name, figure in figures.items()}
    heatmaps = {
        scale: [
            _template(say, _table(scale, has_numbers, theme), theme)["spec"]["data"][0]
            for has_numbers in (False, True)
        ]
        for scale in (viz.SIGNED, viz.WEIGHT)
    }
    colours = {scale: [each["colorscale"] for each in both] for scale, both in heatmaps.items()}
    for name in ("table", "steps"):
        found[name] |= {"textfont": heatmaps[viz.SIGNED][1]["textfont"], "colours": colours}
    return found


def _template(say: Say, figure: go.Figure, theme: str) -> dict[str, Any]:
    data = plot_data(say, figure, label="", file="", theme=theme)
    return data | {"spec": json.loads(data["spec"])}


def _bars(panels: int, theme: str) -> go.Figure:
    return viz.attention_bars(
        np.full((panels, 2), 0.5),
        _TOKENS,
        ["-"] * panels,
        outlined=[0],
        outlined_title="{outlined}",
        token_title="{tokens}",
        hover=("{key}", "{value}"),
        theme=theme,
    )


def _panels(say: Say, theme: str) -> go.Figure:
    panels = [
        viz.MethodPanel(say(f"method_{name}"), np.ones(2), intervened=name == METHODS[0]) for name in METHODS
    ]
    return contribution_panels(
        panels,
        _TOKENS,
        split=1,
        observed_name=say("sources_observed"),
        intervened_name=say("sources_intervened"),
        token_title=say("sources_tokens"),
        value_title=say("sources_share"),
        theme=theme,
    )


def _of_heads(say: Say, trace: AttentionTrace, theme: str) -> dict[str, go.Figure]:
    """The mosaic of all heads, and each head's attention beside its effect."""
    grids, nothing = {kind: np.ones(trace.shape(kind)) for kind in trace.kinds}, [0.0] * len(trace.heads)
    words: dict[str, Any] = {"names": kind_names(say, trace.kinds), "chosen": trace.heads[:1], "theme": theme}
    effect, attention = say("without_effect"), say("without_attention")
    return {
        "mosaic": viz.head_mosaic(
            grids,
            value_title=effect,
            layer_title=say("layer_label"),
            key=say("without_key"),
            helps_below=True,
            **words,
        ),
        "scatter": viz.attention_effect_scatter(
            nothing, nothing, trace.heads, attention_title=attention, effect_title=effect, **words
        ),
    }


def _table(scale: str, numbers: bool, theme: str) -> go.Figure:
    hidden = viz.Hidden(np.eye(2) > 0, np.eye(2) == 0, masked_name="{masked}", padded_name="{padded}")
    return viz.number_heatmap(
        np.ones((2, 2)),
        _TOKENS,
        _TOKENS,
        scale=scale,
        hidden=hidden,
        small_name="{small}",
        numbers=numbers,
        titles=("{rows}", "{columns}"),
        hover=("{row}", "{column}", "{value}"),
        theme=theme,
    )


def _steps(say: Say, theme: str) -> go.Figure:
    return viz.attention_steps(
        [np.array([1.0, 1.0]), np.array([1.0, 1.0]), np.array([1.0, -np.inf])],
        np.array([0.5, 0.5]),
        _TOKENS,
        ["q·k", "÷√d", say("numbers_with_mask"), "softmax"],
        captions=viz.Captions(
            titles=(say("hover_key"), ""),
            hover=(say("hover_key"), say("numbers_step"), say("value_axis")),
            names=("{masked}",),
            theme=theme,
        ),
    )


def _positions(say: Say, width: int, theme: str) -> dict[str, go.Figure]:
    """The pictures of the positional encoding. ``js/calculation.js`` computes their numbers."""
    matrix = positional_encoding(POSITIONS, width)
    dimension, position, value = say("dimension_axis"), say("position_axis"), say("value_axis")
    waves = tuple(f"{{dimension}}: {say(name)}" for name in ("sine", "cosine"))

    def captions(*titles: str, **more: Any) -> viz.Captions:
        return viz.Captions(titles=titles, theme=theme, **more)

    all_three = captions(dimension, position, value, hover=(dimension, position, value))
    curves = captions(position, value, hover=(position, value), names=waves)
    similarity = captions(position, say("positions_similarity_axis"))
    shown = [dimension for dimension in CURVES if dimension < width]
    found = {
        "positions_matrix": viz.positional_encoding_heatmap(matrix, captions=all_three),
        "positions_curves": viz.positional_encoding_curves(matrix, shown, captions=curves),
        "positions_similarity": viz.position_similarity_heatmap(matrix @ matrix.T, captions=similarity),
    }
    for figure in found.values():
        figure.for_each_trace(lambda trace: trace.update({"y" if trace.type == "scatter" else "z": None}))
    return found
