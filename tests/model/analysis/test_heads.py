import numpy as np
import pytest

from model.analysis.attention_maps import distance, entropy


def random_weights(shape=(2, 3, 5, 7), seed=0) -> np.ndarray:
    weights = np.random.default_rng(seed).random(shape).astype(np.float32)
    return weights / weights.sum(-1, keepdims=True)


def test_entropy_is_counted_in_bits():
    weights = np.zeros((1, 3, 2, 8), np.float32)
    weights[0, 0] = 1 / 8  # everywhere alike
    weights[0, 1, :, 3] = 1  # one key
    weights[0, 2, 0, :2] = 0.5  # a row of one bit
    weights[0, 2, 1, :4] = 0.25  # and one of two
    assert entropy(weights).tolist() == [[3.0, 0.0, 1.5]]


def test_entropy_lies_between_one_key_and_all_and_does_not_ask_for_their_order():
    weights = random_weights()
    bits = entropy(weights)
    assert bits.shape == (2, 3) and bits.dtype == np.float32
    assert (bits >= 0).all() and (bits <= np.log2(7)).all()
    np.testing.assert_allclose(entropy(weights[..., ::-1]), bits, rtol=1e-6)


def test_masked_keys_add_nothing():
    weights = random_weights()
    wider = np.concatenate([weights, np.zeros((2, 3, 5, 4), np.float32)], axis=-1)
    np.testing.assert_allclose(entropy(wider), entropy(weights), rtol=1e-6)


def test_distance_is_counted_in_tokens_from_where_a_row_stands():
    weights = np.zeros((1, 2, 3, 5), np.float32)
    weights[0, 0, range(3), [0, 1, 2]] = 1
    weights[0, 1, :, [0, 4]] = 0.5
    assert distance(weights, np.array([0, 1, 2])).tolist() == [[0.0, 2.0]]
    assert distance(weights, np.array([1, 2, 3])).tolist() == [[1.0, 2.0]]


def test_rows_that_stand_nowhere_are_left_out():
    weights = random_weights()
    without = distance(weights[:, :, [0, 2, 4]], np.array([0, 3, 6]))
    np.testing.assert_allclose(distance(weights, np.array([0, -1, 3, -1, 6])), without, rtol=1e-6)
    assert distance(weights, np.full(5, -1)).tolist() == [[0.0] * 3] * 2


def test_a_single_token_is_legal():
    weights = np.ones((1, 1, 1, 1), np.float32)
    assert entropy(weights).item() == distance(weights, np.array([0])).item() == 0


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"\(L, H, Q, K\), received \(5, 7\)"):
        entropy(np.zeros((5, 7)))
    with pytest.raises(ValueError, match=r"\(Q,\) = \(5,\), received \(7,\)"):
        distance(random_weights(), np.zeros(7))
