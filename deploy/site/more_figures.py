"""Templates of the figures that the site draws besides those of ``explore.js``. ``js/views.js`` fills in the numbers of a sentence.

A word that differs from picture to picture is a placeholder: ``{name}``.
"""

import json
from typing import Any

import numpy as np
import plotly.graph_objects as go

import viz
from model.activations.sublayers import positional_encoding
from model.trace.trace import AttentionTrace
from viz import bars, number_table
from viz.bars import (
    _MAY_SHRINK,
    _PANELS_FOOT,
    _PANELS_LEGEND,
    _PANELS_NAME,
    _PANELS_PANEL,
    contribution_panels,
)
from viz.browser.plot import plot_data
from viz.browser.texts import Say

POSITIONS = 64  # rows of the picture of the positional encoding
CURVES = (10, 11, 30, 31)  # dimensions whose curves are drawn, of those that there are
LEADING = 3  # heads whose bars are shown
METHODS = ("occlusion", "attention")
_TOKENS = ("가", "나")


def more_figures(say: Say, trace: AttentionTrace, width: int, theme: str) -> dict[str, Any]:
    """The templates by name. ``width``: D of the network."""
    figures = {
        "edits": _bars(LEADING, theme),
        "received": _bars(1, theme),
        "panels": _panels(say, theme),
        "mosaic": _mosaic(say, trace, theme),
        "scatter": _scatter(say, trace, theme),
        "table": _table(viz.SIGNED, False, theme),
        "steps": _steps(say, theme),
        **_positions(say, width, theme),
    }
    found = {name: _template(say, figure, theme) for name, figure in figures.items()}
    numbers = {
        scale: [
            _template(say, _table(scale, numbers, theme), theme)["spec"]["data"][0]
            for numbers in (False, True)
        ]
        for scale in (viz.SIGNED, viz.WEIGHT)
    }
    for name in ("table", "steps"):
        found[name]["textfont"] = numbers[viz.SIGNED][1]["textfont"]
        found[name]["colours"] = {
            scale: [each["colorscale"] for each in both] for scale, both in numbers.items()
        }
    return found


def more_sizes() -> dict[str, dict[str, float]]:
    """The numbers by which these figures are laid out.

    >>> more_sizes()["BARS"]["PANEL"]
    84
    """
    table = "SCALE_HEIGHT NAME_HEIGHT LEGEND_HEIGHT LEGEND_LINE FOOT TALLEST_ROW LOWEST_ROW"
    return {
        "BARS": {name: getattr(bars, f"_{name}") for name in ("PANEL", "NAME", "FOOT", "LEGEND")},
        "PANELS": {
            "PANEL": _PANELS_PANEL,
            "NAME": _PANELS_NAME,
            "FOOT": _PANELS_FOOT,
            "LEGEND": _PANELS_LEGEND,
            "MAY_SHRINK": _MAY_SHRINK,
        },
        "TABLE": {
            **{name: getattr(number_table, f"_{name}") for name in table.split()},
            "WITH_NUMBERS": number_table.MOST_COLUMNS_WITH_NUMBERS,
            "WITH_GAPS": number_table.MOST_COLUMNS_WITH_GAPS,
        },
    }


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


def _words_of_heads(say: Say, trace: AttentionTrace, theme: str) -> dict[str, Any]:
    return {
        "names": {kind: say(f"kind_{kind}") for kind in trace.kinds},
        "layer_title": say("layer_label"),
        "head_title": say("head_label"),
        "chosen": trace.heads[:1],
        "theme": theme,
    }


def _mosaic(say: Say, trace: AttentionTrace, theme: str) -> go.Figure:
    grids = {kind: np.ones(trace.shape(kind)) for kind in trace.kinds}
    return viz.head_mosaic(grids, value_title=say("without_effect"), **_words_of_heads(say, trace, theme))


def _scatter(say: Say, trace: AttentionTrace, theme: str) -> go.Figure:
    nothing = [0.0] * len(trace.heads)
    return viz.attention_effect_scatter(
        nothing,
        nothing,
        trace.heads,
        attention_title=say("without_attention"),
        effect_title=say("without_effect"),
        **_words_of_heads(say, trace, theme),
    )


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
        masked_name="{masked}",
        titles=(say("hover_key"), ""),
        hover=(say("hover_key"), say("numbers_step"), say("value_axis")),
        theme=theme,
    )


def _positions(say: Say, width: int, theme: str) -> dict[str, go.Figure]:
    """The pictures of the positional encoding. ``js/calculation_views.js`` computes their numbers."""
    matrix = positional_encoding(POSITIONS, width)
    names = (say("dimension_axis"), say("position_axis"), say("value_axis"))
    pairs = viz.position_similarity_heatmap(
        matrix @ matrix.T, titles=(say("position_axis"), say("positions_similarity_axis")), theme=theme
    )
    curves = viz.positional_encoding_curves(
        matrix,
        [dimension for dimension in CURVES if dimension < width],
        titles=names[1:],
        hover=names[1:],
        curve_names=(f"{{dimension}}: {say('sine')}", f"{{dimension}}: {say('cosine')}"),
        theme=theme,
    )
    found = {
        "positions_matrix": viz.positional_encoding_heatmap(matrix, titles=names, hover=names, theme=theme),
        "positions_curves": curves,
        "positions_similarity": pairs,
    }
    for figure in found.values():
        figure.for_each_trace(lambda trace: trace.update({"y" if trace.type == "scatter" else "z": None}))
    return found
