"""The padding mask and the look-ahead mask in NumPy, for drawing.

The networks' masks say where a query MAY look; these say what is hidden, which is what pictures show.
"""

from collections.abc import Sequence

import numpy as np

from model.text.tokenizer import PAD, PAD_ID, pad

__all__ = ["PAD", "hidden_by_look_ahead", "hidden_by_padding", "pad"]


def hidden_by_padding(ids: Sequence[Sequence[int]] | np.ndarray) -> np.ndarray:
    """(B, K) ids -> (B, K) bool, True at padding; the opposite of ``model.network.layers.padding_mask``."""
    return np.asarray(ids) == PAD_ID


def hidden_by_look_ahead(length: int) -> np.ndarray:
    """(Q, K) bool with Q = K = length, True where the key is later than the query; the opposite of
    ``model.network.layers.look_ahead_mask``."""
    return np.triu(np.ones((length, length), dtype=bool), k=1)
