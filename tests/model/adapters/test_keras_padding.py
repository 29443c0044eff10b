"""Padding of networks in Keras. Needs Keras."""

import numpy as np
import pytest

from examples.keras_networks import HEADS, HandWrittenTransformer, OfKerasLayers, functional_encoder, seeded
from model.adapters.keras import trace_keras
from tests.model.adapters.opening import SOURCE, TARGET, opened

PADDED_SOURCE, PADDED_TARGET = [5, 3, 9, 0, 0, 0], [1, 7, 8, 2, 0]


@pytest.mark.parametrize("make", [HandWrittenTransformer, OfKerasLayers])
def test_a_padded_row_of_a_batch(make):
    batch = np.array([PADDED_SOURCE, [*SOURCE, 6, 7]])
    trace = opened(trace_keras(seeded(make), batch[0], PADDED_TARGET))
    assert trace.source_padding == (False,) * 3 + (True,) * 3
    assert trace.target_padding == (False, False, False, True)
    assert not trace.encoder_attention[:, :, :3, 3:].any() and not trace.cross_attention[:, :, :3, 3:].any()
    assert trace.padded("encoder_attention")[:, 3:].all()
    plain = trace_keras(seeded(make), SOURCE[:3], TARGET)
    np.testing.assert_allclose(trace.cross_attention[:, :, :3, :3], plain.cross_attention, atol=1e-6)


def test_a_functional_encoder():
    trace = opened(trace_keras(seeded(functional_encoder, 6), PADDED_SOURCE))
    assert trace.kinds == ("encoder_attention",) and trace.shape("encoder_attention") == (2, HEADS)
    assert trace.source_padding[3:] == (True,) * 3
