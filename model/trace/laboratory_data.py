"""What a laboratory hands over: NumPy arrays with a documented shape each.

L layers, H heads, S source and T target tokens, Q query and K key positions, D d_model.
"""

from typing import NamedTuple

import numpy as np


class Slopes(NamedTuple):
    """A score at N points of the path from no embeddings to all, and how it changes with each token's."""

    score: np.ndarray  # (N,) float32
    source: np.ndarray  # (N, S) float32, d score / d factor of each source token's embedding
    target: np.ndarray  # (N, T) float32, of each token the decoder has read


class Insides(NamedTuple):
    """What one pass over one sentence holds, by kind of attention."""

    attention: dict[str, np.ndarray]  # (L, H, Q, K)
    values: dict[str, np.ndarray]  # (L, H, K, D/H) value vectors
    entering: dict[str, np.ndarray]  # (L, Q, D) the residual stream before each attention
    output_kernels: dict[str, np.ndarray]  # (L, H, D/H, D) each head's part of the output projection
    output_biases: dict[str, np.ndarray]  # (L, D)
    norm_scales: (
        dict[str, np.ndarray] | None
    )  # (L, D) of the normalisation behind each; None where none follows


class Zeroed(NamedTuple):
    """Cosine distances in 0..2 that zeroing one position's values makes in one decoder layer's output."""

    decoder: np.ndarray  # (L, T, T) of row t, by what the decoder has read
    cross: np.ndarray  # (L, T, S) of row t, by source position
