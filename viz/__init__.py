"""Functions that draw: arrays and labels in, a Plotly figure out. No Streamlit, no state.

In a notebook a returned figure shows itself. Empty input gives an empty figure. ``viz.browser`` holds what draws in a browser by itself.
"""

from viz.attention import MapTexts, attention_heatmap
from viz.bars import attention_bars
from viz.before_after import Measured, before_after
from viz.browser.explore import Exploration, explore
from viz.calculation import attention_steps, number_heatmap
from viz.circuit_graph import GraphEdge, GraphNode, circuit_graph
from viz.contribution_panels import MethodPanel, contribution_panels
from viz.effect_scatter import attention_effect_scatter
from viz.embedding_sizes import embedding_sizes
from viz.growth import growth_curves
from viz.head_grid import head_grid
from viz.head_mosaic import head_mosaic
from viz.head_tiles import cells_joined
from viz.hidden import Hidden
from viz.history import history_curves
from viz.layer_curve import layer_curve
from viz.layer_grid import layer_grid
from viz.number_table import SIGNED, WEIGHT
from viz.number_texts import number_text
from viz.place_map import place_map
from viz.position_shift import ShiftReference, position_shift
from viz.position_similarity import position_similarity_curve, position_similarity_heatmap
from viz.positions import positional_encoding_curves, positional_encoding_heatmap
from viz.pruning import pruning_curve
from viz.reliability import reliability_curve
from viz.role_mosaic import role_mosaic
from viz.theme import THEMES
from viz.token_branches import token_branches
from viz.waterfall import Amount, waterfall
from viz.weight_colours import FAINT

__all__ = [
    "FAINT",
    "SIGNED",
    "THEMES",
    "WEIGHT",
    "Amount",
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
