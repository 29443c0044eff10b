"""Attention rollout through encoder and decoder (Abnar & Zuidema, "Quantifying Attention Flow in Transformers", ACL 2020)."""

import numpy as np

from model.analysis.method import AttributedRow, AttributionMethod, TokenScores, last_row, of_one_sequence
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


def rollout_of_decoder(weights: np.ndarray) -> np.ndarray:
    """The same through a decoder alone: (L, H, N, N) -> (N, N), rows by the token that they read."""
    mean = weights.mean(axis=1, dtype=np.float64)
    found = np.eye(mean.shape[-1])
    for layer in mean:
        found = (found + layer @ found) / 2
    return found


def say(row: AttributedRow) -> TokenScores:
    if row.trace.prompt:
        through = rollout_of_decoder(row.trace.attention("decoder_attention"))
        return of_one_sequence(through, row.trace.prompt, row.contrast.row)
    return last_row(*rollout(row.attention))


METHOD = AttributionMethod("rollout", 3, say)
