"""Charts: functions from arrays and labels to a Plotly figure, without Streamlit or state.

In a notebook a returned figure shows itself. Empty input gives an empty figure. ``viz.browser`` holds the
interactive explorer and its scripts.
"""

from viz.amounts import Amount, Measured, before_after, waterfall
from viz.attention import MapTexts, attention_heatmap
from viz.bars import MethodPanel, attention_bars, contribution_panels
from viz.browser.explore import Exploration, explore
from viz.figure import Captions, Hidden
from viz.graphs import GraphEdge, GraphNode, circuit_graph, token_branches
from viz.head_grid import cells_joined, head_grid
from viz.head_mosaic import head_mosaic, role_mosaic
from viz.head_studies import attention_effect_scatter, pruning_curve, reliability_curve
from viz.labels import number_text
from viz.layers import layer_curve, layer_grid, place_map
from viz.number_table import SIGNED, WEIGHT, attention_steps, number_heatmap
from viz.positions import (
    ShiftReference,
    embedding_sizes,
    position_shift,
    position_similarity_curve,
    position_similarity_heatmap,
    positional_encoding_curves,
    positional_encoding_heatmap,
)
from viz.theme import FAINT, THEMES
from viz.training_curves import growth_curves, history_curves

__all__ = [
    "FAINT",
    "SIGNED",
    "THEMES",
    "WEIGHT",
    "Amount",
    "Captions",
    "Exploration",
    "GraphEdge",
    "GraphNode",
    "Hidden",
    "MapTexts",
    "Measured",
    "MethodPanel",
    "ShiftReference",
    "attention_bars",
    "attention_effect_scatter",
    "attention_heatmap",
    "attention_steps",
    "before_after",
    "cells_joined",
    "circuit_graph",
    "contribution_panels",
    "embedding_sizes",
    "explore",
    "growth_curves",
    "head_grid",
    "head_mosaic",
    "history_curves",
    "layer_curve",
    "layer_grid",
    "number_heatmap",
    "number_text",
    "place_map",
    "position_shift",
    "position_similarity_curve",
    "position_similarity_heatmap",
    "positional_encoding_curves",
    "positional_encoding_heatmap",
    "pruning_curve",
    "reliability_curve",
    "role_mosaic",
    "token_branches",
    "waterfall",
]
