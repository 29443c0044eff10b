"""What the tests of ``trace_keras`` give a network, and what they ask of it."""

import numpy as np
from keras import ops

from examples.keras_networks import OfKerasLayers
from model.trace.trace import AttentionTrace
from viz import explore

SOURCE, TARGET = [5, 3, 9, 4], [1, 7, 8, 2]  # as many source tokens as target ids, start mark counted
KINDS = ["encoder_attention", "decoder_attention", "cross_attention"]


def opened(trace: AttentionTrace) -> AttentionTrace:
    trace.check()
    assert b"data-component" in explore(trace).page
    return trace


def produced(model, source, target) -> np.ndarray:
    """(T, V) of the network itself."""
    pair = [ops.convert_to_tensor(np.array([ids], "int32")) for ids in (source, target[:-1])]
    out = model(tuple(pair)) if isinstance(model, OfKerasLayers) else model(*pair)
    return ops.convert_to_numpy(out)[0]
