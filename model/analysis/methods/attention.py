"""Raw attention: the mean of the weights over all layers and heads. Source and target get half of the whole each; in a decoder alone
they share the weights of one map.
"""

import numpy as np

from model.analysis.method import AttributedRow, AttributionMethod, TokenScores, of_one_sequence
from model.stored.config import INTERVENTIONS


def say(row: AttributedRow) -> TokenScores:
    at, trace = row.contrast.row, row.trace
    if trace.prompt:
        return of_one_sequence(trace.attention("decoder_attention").mean(axis=(0, 1)), trace.prompt, at)
    source = trace.attention("cross_attention")[:, :, at].mean(axis=(0, 1)) / 2
    if "decoder_attention" not in trace.kinds:
        return TokenScores(source, np.zeros(at + 1))
    return TokenScores(source, trace.attention("decoder_attention")[:, :, at, : at + 1].mean(axis=(0, 1)) / 2)


METHOD = AttributionMethod("attention", 1, say, needs=INTERVENTIONS)
