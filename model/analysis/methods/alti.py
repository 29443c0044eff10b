"""ALTI (Ferrando, Gállego & Costa-jussà, "Measuring the Mixing of Contextual Information in the Transformer", EMNLP 2022)."""

import numpy as np

from model.analysis.method import AttributedRow, AttributionMethod, TokenScores, last_row, of_one_sequence
from model.analysis.mixing import added_vectors, rolled_through
from model.stored.config import MIXING
from model.trace.laboratory_data import Insides


def alti(insides: Insides) -> tuple[np.ndarray, np.ndarray]:
    """ALTI by source token (T, S) and by token read before (T, T).

    A row of an attention's output is a sum of vectors: one for each key, and what passes by on the residual
    connection. The nearer one of them comes to the sum, in the Manhattan distance, the more it contributes; shares
    of all layers are multiplied. Sources: equations 8 to 10 of the paper above; for a decoder Ferrando et al., "Towards
    Opening the Black Box of Neural Machine Translation" (EMNLP 2022).
    """
    encoder, own, cross = [], [], []
    for number in range(len(insides.attention["encoder_attention"])):
        encoder.append(_self_shares(insides, "encoder_attention", number))
    for number in range(len(insides.attention["cross_attention"])):
        read = _self_shares(insides, "decoder_attention", number)
        vectors = added_vectors(insides, "cross_attention", number)
        passing = insides.entering["cross_attention"][number].astype(np.float64)
        shares = _nearness(insides, "cross_attention", number, np.append(vectors, passing[:, None], axis=1))
        cross.append(shares[:, :-1])
        own.append(shares[:, -1:] * read)
    return rolled_through(np.stack(encoder), np.stack(own), np.stack(cross))


def _self_shares(insides: Insides, kind: str, layer: int) -> np.ndarray:
    vectors = added_vectors(insides, kind, layer)
    diagonal = np.arange(len(vectors))
    vectors[diagonal, diagonal] += insides.entering[kind][layer]
    return _nearness(insides, kind, layer, vectors)


def _nearness(insides: Insides, kind: str, layer: int, vectors: np.ndarray) -> np.ndarray:
    """(Q, N, D) vectors -> (Q, N): how near each comes to their sum, rows that sum to 1."""
    bias = insides.output_biases[kind][layer]
    if insides.norm_scales is not None:  # the normalisation that follows, made linear; its length cancels out
        scale = insides.norm_scales[kind][layer]
        vectors = (vectors - vectors.mean(axis=-1, keepdims=True)) * scale
        bias = (bias - bias.mean()) * scale
    whole = vectors.sum(axis=1) + bias  # (Q, D)
    apart = np.abs(whole[:, None] - vectors).sum(axis=-1)  # (Q, N)
    near = np.maximum(np.abs(whole).sum(axis=-1, keepdims=True) - apart, 0)
    total = near.sum(axis=1, keepdims=True)
    # A sum that no vector comes near to, which cancellation may leave, says nothing: all share alike.
    return np.where(total > 0, near / np.where(total > 0, total, 1), 1 / near.shape[1])


def alti_of_decoder(insides: Insides) -> np.ndarray:
    """The same in a decoder alone: (N, N), rows by the token that they read."""
    found = np.eye(insides.attention["decoder_attention"].shape[-1])
    for number in range(len(insides.attention["decoder_attention"])):
        found = _self_shares(insides, "decoder_attention", number) @ found
    return found


def say(row: AttributedRow) -> TokenScores:
    if row.trace.prompt:
        return of_one_sequence(alti_of_decoder(row.insides), row.trace.prompt, row.contrast.row)
    return last_row(*alti(row.insides))


METHOD = AttributionMethod("alti", 4, say, needs=MIXING)
