"""Data in, Plotly figure out: no Streamlit, no state, no display; in a notebook a figure shows itself."""

from viz.attention import attention_heatmap
from viz.head_grid import head_grid
from viz.history import history_curves
from viz.positions import positional_encoding_curves, positional_encoding_heatmap
from viz.reliability import reliability_curve
from viz.theme import THEMES, config

__all__ = [
    "THEMES",
    "attention_heatmap",
    "config",
    "head_grid",
    "history_curves",
    "positional_encoding_curves",
    "positional_encoding_heatmap",
    "reliability_curve",
]
