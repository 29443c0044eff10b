"""Attention rollout through encoder and decoder (Abnar & Zuidema, "Quantifying Attention Flow in Transformers", ACL 2020)."""

import numpy as np

from model.analysis.method import AskedRow, Method, Said, last_row
from model.analysis.mixing import rolled_through


def rollout(attention: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Attention rollout, by source token (T, S) and by token read before (T, T).

    Each attention is averaged over its heads, and half of each row is what passes by on the residual connection.
    Feed-forward layers mix no tokens. Source: Abnar & Zuidema (2020), equation 1.
    """
    mean = {kind: weights.mean(axis=1, dtype=np.float64) for kind, weights in attention.items()}
    own = (mean["decoder_attention"] + np.eye(mean["decoder_attention"].shape[1])) / 2
    encoder = (mean["encoder_attention"] + np.eye(mean["encoder_attention"].shape[1])) / 2
    return rolled_through(encoder, own / 2, mean["cross_attention"] / 2)


def say(row: AskedRow) -> Said:
    return last_row(*rollout(row.attention))


METHOD = Method("rollout", 3, say)
