"""How much of each input token reaches each decoder row: rollout, norms, ALTI and value zeroing, in NumPy.

L layers, H heads, S source tokens, T target tokens, D d_model. A decoder row t mixes the T tokens it may have read
(columns as in decoder self-attention, the start mark first) and the S source tokens. In every function "own" are
shares of the first and "cross" of the second.
"""

import numpy as np

from model.trace.laboratory_data import Insides, Zeroed

_ROUNDING = 1e-5  # what cosine distances of float32 vectors that do not differ may sum to


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


def rollout(insides: Insides) -> tuple[np.ndarray, np.ndarray]:
    """Attention rollout, by source token (T, S) and by token read before (T, T).

    Each attention is averaged over its heads, and half of each row is what passes by on the residual connection.
    Feed-forward layers mix no tokens. Source: Abnar & Zuidema (2020), equation 1.
    """
    mean = {kind: weights.mean(axis=1, dtype=np.float64) for kind, weights in insides.attention.items()}
    own = (mean["decoder_attention"] + np.eye(mean["decoder_attention"].shape[1])) / 2
    encoder = (mean["encoder_attention"] + np.eye(mean["encoder_attention"].shape[1])) / 2
    return rolled_through(encoder, own / 2, mean["cross_attention"] / 2)


def added_vectors(insides: Insides, kind: str, layer: int) -> np.ndarray:
    """(Q, K, D) float64: what one attention adds to row q on account of key k, all heads together.

    That is weight times value vector, through the output projection; over k it sums to the attention's output
    without the output bias. Source: Kobayashi et al., "Attention is Not Only a Weight" (EMNLP 2020), equation 3.
    """
    weights = insides.attention[kind][layer].astype(np.float64)  # (H, Q, K)
    projected = insides.values[kind][layer].astype(np.float64) @ insides.output_kernels[kind][layer]
    return np.einsum("hqk,hkd->qkd", weights, projected, optimize=True)  # projected: (H, K, D)


def norms(insides: Insides) -> tuple[np.ndarray, np.ndarray]:
    """Norm-weighted attention by source token (T, S) and by token read before (T, T).

    The length of ``added_vectors``, the mean over layers. Both attentions of the decoder add to one stream, so
    their lengths compare; rows are divided by what both sum to. Source: Kobayashi et al. (2020), section 3.
    """
    lengths = [
        np.mean(
            [
                np.linalg.norm(added_vectors(insides, kind, n), axis=-1)
                for n in range(len(insides.attention[kind]))
            ],
            axis=0,
        )
        for kind in ("cross_attention", "decoder_attention")
    ]
    total = sum(each.sum(axis=1, keepdims=True) for each in lengths)
    return tuple(np.divide(each, total, out=np.zeros_like(each), where=total > 0) for each in lengths)


def alti(insides: Insides) -> tuple[np.ndarray, np.ndarray]:
    """ALTI by source token (T, S) and by token read before (T, T).

    A row of an attention's output is a sum of vectors: one for each key, and what passes by on the residual
    connection. The nearer one of them comes to the sum, in the Manhattan distance, the more it contributes; shares
    of all layers are multiplied. Sources: Ferrando, Gállego & Costa-jussà, "Measuring the Mixing of Contextual
    Information in the Transformer" (EMNLP 2022), equations 8 to 10; for a decoder Ferrando et al. (EMNLP 2022).
    """
    layers = range(len(insides.attention["encoder_attention"]))
    encoder = np.stack([_self_shares(insides, "encoder_attention", n) for n in layers])
    own, cross = [], []
    for number in layers:
        read = _self_shares(insides, "decoder_attention", number)
        vectors = added_vectors(insides, "cross_attention", number)
        passing = insides.entering["cross_attention"][number].astype(np.float64)
        shares = _nearness(insides, "cross_attention", number, np.append(vectors, passing[:, None], axis=1))
        cross.append(shares[:, :-1])
        own.append(shares[:, -1:] * read)
    return rolled_through(encoder, np.stack(own), np.stack(cross))


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


def zeroed_shares(zeroed: Zeroed) -> tuple[np.ndarray, np.ndarray]:
    """Value zeroing by source token (T, S) and by token read before (T, T).

    A row's cosine distances over all positions whose values were zeroed, the mean over the decoder's layers, divided
    by their sum. Layers are not multiplied as in ``rollout``: the distances do not say how much of a row passes by
    on the residual connection, and without that a product forgets what lower layers wrote. A row in which no value
    does anything is all 0.

    Source: Mohebbi et al., "Quantifying Context Mixing in Transformers" (EACL 2023), section 3, for the encoder.
    A decoder's row mixes what it has read and the source, which is our extension.
    """
    decoder, cross = (each.mean(axis=0, dtype=np.float64) for each in zeroed)
    total = (decoder.sum(axis=1) + cross.sum(axis=1))[:, None]
    return tuple(
        np.divide(each, total, out=np.zeros_like(each), where=total > _ROUNDING) for each in (cross, decoder)
    )
