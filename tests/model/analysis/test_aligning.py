"""Two passes side by side: which tokens stand for each other, and what is subtracted from what."""

import numpy as np
import pytest

from model.analysis.attention_maps import aligned_difference, counterparts
from tests.ui.fake_corrector import random_trace


def test_shared_characters_stand_for_each_other():
    assert counterparts("친구와 가치", "친구의 가치").tolist() == [0, 1, -1, 3, 4, 5, 6]
    assert counterparts("안되요", "안 돼요").tolist() == [0, -1, -1, 2, 3]
    assert counterparts("친구와 같이", "친구의 가치를").tolist() == [0, 1, -1, 3, -1, -1, -1, 6]
    assert counterparts("가나", "가나").tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", ["encoder_attention", "decoder_attention", "cross_attention"])
def test_a_trace_differs_from_itself_nowhere(kind):
    trace = random_trace("고갱이 왔다", "고객이 왔다")
    weights = trace.attention(kind)[0, 1]
    found, missing = aligned_difference(kind, trace, trace, (weights, weights))
    assert not found.any()
    assert not missing.any()


def test_each_cell_is_compared_with_its_counterpart():
    one, other = random_trace("가나다", "가나다", seed=1), random_trace("가라나다", "가라나다", seed=2)
    kept = [0, 2, 3, 4]  # where the characters of one stand in the other; 라 has no counterpart
    for kind, rows, columns in (
        ("encoder_attention", kept, kept),
        ("cross_attention", kept, kept),
        (
            "decoder_attention",
            kept,
            [0, 1, 3, 4],
        ),  # its columns are the start mark and what was written before
    ):
        weights = one.attention(kind)[1, 2], other.attention(kind)[1, 2]
        found, missing = aligned_difference(kind, one, other, weights)
        np.testing.assert_allclose(
            found[np.ix_(rows, columns)], weights[1][np.ix_(rows, columns)] - weights[0], atol=1e-6
        )
        assert missing.sum() == 5 + 5 - 1
        assert not found[missing].any()


def test_weights_of_another_shape_are_named():
    trace = random_trace("가", "가")
    with pytest.raises(ValueError, match=r"shape \(2, 2\), received \(3, 3\)"):
        aligned_difference("cross_attention", trace, trace, (np.zeros((2, 2)), np.zeros((3, 3))))
