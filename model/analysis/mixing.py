"""How much of each input token reaches each decoder row: rollout, norms, ALTI and value zeroing, in NumPy.

L layers, H heads, S source tokens, T target tokens, D d_model. A decoder row t mixes the T tokens it may have read
(columns as in decoder self-attention, the start mark first) and the S source tokens. In every function "own" are
shares of the first and "cross" of the second.
"""

import numpy as np

from model.trace.laboratory_data import Insides


def rolled_through(encoder: np.ndarray, own: np.ndarray, cross: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Multiply mixing matrices of all layers: which share of each decoder row comes from which input.

    Args:
        encoder: (L, S, S), rows that sum to 1. own: (L, T, T), cross: (L, T, S); of both together each row
            sums to 1.

    Returns:
        by source token (T, S) and by token read before (T, T); of both together each row sums to 1.

    Source: Abnar & Zuidema, "Quantifying Attention Flow in Transformers" (ACL 2020), section 3, for an encoder; a
    decoder as in Ferrando et al., "Towards Opening the Black Box of Neural Machine Translation" (EMNLP 2022).
    """
    read = np.eye(encoder.shape[1])
    for layer in encoder:
        read = layer @ read  # (S, S): which input each encoder state comes from
    before, source = np.eye(own.shape[1]), np.zeros(cross.shape[1:])
    for layer, from_source in zip(own, cross, strict=True):
        before, source = layer @ before, layer @ source + from_source @ read
    return source, before


def added_vectors(insides: Insides, kind: str, layer: int) -> np.ndarray:
    """(Q, K, D) float64: what one attention adds to row q on account of key k, all heads together.

    That is weight times value vector, through the output projection; over k it sums to the attention's output
    without the output bias. Source: Kobayashi et al., "Attention is Not Only a Weight" (EMNLP 2020), equation 3.
    """
    weights = insides.attention[kind][layer].astype(np.float64)  # (H, Q, K)
    projected = insides.values[kind][layer].astype(np.float64) @ insides.output_kernels[kind][layer]
    return np.einsum("hqk,hkd->qkd", weights, projected, optimize=True)  # projected: (H, K, D)
