"""The cells that the figure of a map receives."""

from types import SimpleNamespace

import numpy as np
import pytest

from model.trace.trace import AttentionTrace
from ui.views.heatmap import cells_of
from viz import attention_heatmap


@pytest.mark.parametrize("minus_copy", [False, True])
def test_words_of_half_precision_can_be_drawn(minus_copy):
    """Such rows sum to a little more than 1, and the columns of a word are added up."""
    weights = np.full((1, 1, 2, 2), 0.503, np.float32)
    trace = AttentionTrace(source_tokens=("가", "나"), encoder_attention=weights)
    trace.check()
    state = SimpleNamespace(
        trace=trace,
        kind="encoder_attention",
        weights=weights[0, 0],
        queries=trace.source_tokens,
        keys=trace.source_tokens,
        masked=None,
        padded=None,
        all_changes=(),
    )
    cells = cells_of(state, by_words=True, without_marks=False, minus_copy=minus_copy)
    figure = attention_heatmap(cells.values, cells.queries, cells.keys, difference=minus_copy)
    assert figure.data[0].z[0, 0] == pytest.approx(0.006 if minus_copy else 1, abs=1e-6)
