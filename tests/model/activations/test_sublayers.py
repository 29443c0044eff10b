"""Positional encoding, replaced rows of weights, and the softmax."""

import numpy as np
import pytest

from model.activations.sublayers import positional_encoding, softmax


def test_values_worked_out_by_hand():
    # d_model 4: rates 1, 1, 1/100, 1/100.
    expected = [
        [0, 1, 0, 1],
        [0.8414710, 0.5403023, 0.0099998, 0.9999500],
        [0.9092974, -0.4161468, 0.0199987, 0.9998000],
    ]
    np.testing.assert_allclose(positional_encoding(3, 4), expected, atol=1e-6)


@pytest.mark.parametrize(("positions", "d_model"), [(0, 4), (4, 0), (-1, 4)])
def test_sizes_below_1_are_refused_with_what_was_received(positions, d_model):
    with pytest.raises(ValueError, match=f"received {positions} x {d_model}"):
        positional_encoding(positions, d_model)


@pytest.mark.parametrize("apart", [1.0, 200.0])
def test_a_softmax_is_the_same_however_far_its_rows_lie_apart(apart):
    scores = np.array([[0, 1, 2], [apart, apart + 1, apart - 1]], np.float32)
    hidden = np.array([[False, False, True], [False, False, False]])
    expected = np.exp(scores.astype(np.float64) - scores.max(axis=-1, keepdims=True))
    expected[hidden] = 0
    expected /= expected.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(softmax(scores.copy(), hidden), expected, atol=1e-6)
