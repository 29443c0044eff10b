"""The results of the laboratory's passes: NumPy arrays with a documented shape each.

L layers, H heads, S source and T target tokens, Q query and K key positions, D d_model.
"""

from typing import NamedTuple

import numpy as np


class Slopes(NamedTuple):
    """The gradients for integrated gradients. All token embeddings are multiplied by a factor that goes from 0 to 1 in N points; at
    each point there are the score and its derivatives by the factor of each token.
    """

    score: np.ndarray  # (N,) float32
    source: np.ndarray  # (N, S) float32, d score / d factor of each source token's embedding
    target: np.ndarray  # (N, T) float32, of each token the decoder has read


class Insides(NamedTuple):
    """What one pass over one sentence computes inside, by kind of attention."""

    attention: dict[str, np.ndarray]  # (L, H, Q, K)
    values: dict[str, np.ndarray]  # (L, H, K, D/H) value vectors
    entering: dict[str, np.ndarray]  # (L, Q, D) the residual stream before each attention
    output_kernels: dict[str, np.ndarray]  # (L, H, D/H, D) each head's part of the output projection
    output_biases: dict[str, np.ndarray]  # (L, D)
    # (L, D) of the normalisation behind each; None where none follows.
    norm_scales: dict[str, np.ndarray] | None


class Zeroed(NamedTuple):
    """How much the output of each decoder layer changes if the values of one position are zeroed: cosine distances in 0..2."""

    decoder: np.ndarray  # (L, T, T): the change of row t, by the position that the decoder has read
    cross: np.ndarray  # (L, T, S): the change of row t, by the source position
