"""Norm-weighted attention (Kobayashi et al., "Attention is Not Only a Weight", EMNLP 2020, section 3)."""

import numpy as np

from model.analysis.method import AttributedRow, AttributionMethod, TokenScores, last_row, of_one_sequence
from model.analysis.mixing import added_vectors
from model.stored.config import MIXING
from model.trace.laboratory_data import Insides


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


def norms_of_decoder(insides: Insides) -> np.ndarray:
    """The same in a decoder alone: (N, N), rows by the token that they read."""
    added = [
        added_vectors(insides, "decoder_attention", n)
        for n in range(len(insides.attention["decoder_attention"]))
    ]
    lengths = np.mean([np.linalg.norm(each, axis=-1) for each in added], axis=0)
    total = lengths.sum(axis=1, keepdims=True)
    return np.divide(lengths, total, out=np.zeros_like(lengths), where=total > 0)


def say(row: AttributedRow) -> TokenScores:
    if row.trace.prompt:
        return of_one_sequence(norms_of_decoder(row.insides), row.trace.prompt, row.contrast.row)
    return last_row(*norms(row.insides))


METHOD = AttributionMethod("norms", 2, say, needs=MIXING)
