"""Value zeroing (Mohebbi et al., "Quantifying Context Mixing in Transformers", EACL 2023)."""

import numpy as np

from model.analysis.method import (
    EACH_TOKEN,
    AttributedRow,
    AttributionMethod,
    TokenScores,
    last_row,
    of_one_sequence,
)
from model.stored.config import MIXING
from model.trace.laboratory_data import Zeroed

_ROUNDING = 1e-5  # what cosine distances of float32 vectors that do not differ may sum to


def zeroed_shares(zeroed: Zeroed) -> tuple[np.ndarray, np.ndarray]:
    """Value zeroing by source token (T, S) and by token read before (T, T).

    A row's cosine distances over all positions whose values were zeroed, the mean over the decoder's layers, divided
    by their sum. Layers are not multiplied as in ``rollout``: the distances do not say how much of a row passes by
    on the residual connection, and without that a product forgets what lower layers wrote. A row in which no value
    does anything is all 0.

    Source: section 3 of the paper above, for the encoder. A decoder's row mixes what it has read
    and the source, which is our extension.
    """
    decoder, cross = (each.mean(axis=0, dtype=np.float64) for each in zeroed)
    total = (decoder.sum(axis=1) + cross.sum(axis=1))[:, None]
    return tuple(
        np.divide(each, total, out=np.zeros_like(each), where=total > _ROUNDING) for each in (cross, decoder)
    )


def say(row: AttributedRow) -> TokenScores:
    source, before = zeroed_shares(row.network.laboratory.zeroed(*row.ids))
    if row.trace.prompt:  # a decoder alone has read both texts
        return of_one_sequence(before, row.trace.prompt, row.contrast.row)
    return last_row(source, before)


METHOD = AttributionMethod("value_zeroing", 7, say, EACH_TOKEN, intervenes=True, needs=MIXING)
