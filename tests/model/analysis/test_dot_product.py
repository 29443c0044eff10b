"""The steps of attention in NumPy are those of the networks, and those of the example every course shows."""

import numpy as np
import pytest
from keras import ops

from model.analysis.building_blocks import (
    dot_product_attention,
    hidden_by_look_ahead,
    hidden_by_padding,
    softmax,
)
from model.network import layers as attention

KEYS = [[10, 0, 0], [0, 10, 0], [0, 0, 10], [0, 0, 10]]
VALUES = [[1, 0], [10, 0], [100, 5], [1000, 6]]


def arrays(queries: int = 5, keys: int = 7, depth: int = 4, width: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    shapes = ((queries, depth), (keys, depth), (keys, width))
    return [rng.normal(0, 2, shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize("masked", [False, True])
def test_weights_and_output_are_those_of_the_networks(masked):
    query, key, value = arrays()
    mask = np.random.default_rng(1).random((5, 7)) < 0.6
    mask[2] = False  # a row with nothing to look at
    mask = mask if masked else None
    output, weights = attention.scaled_dot_product_attention(query, key, value, mask)
    steps = dot_product_attention(query, key, value, mask)
    np.testing.assert_allclose(steps.weights, ops.convert_to_numpy(weights), atol=1e-6)
    np.testing.assert_allclose(steps.output, ops.convert_to_numpy(output), atol=2e-6)


@pytest.mark.parametrize(
    ("query", "weights", "output"),
    [
        ([0, 10, 0], [0, 1, 0, 0], [10, 0]),
        ([0, 0, 10], [0, 0, 0.5, 0.5], [550, 5.5]),
        ([10, 10, 0], [0.5, 0.5, 0, 0], [5.5, 0]),
    ],
)
def test_the_classroom_example_has_its_known_results(query, weights, output):
    steps = dot_product_attention([query], KEYS, VALUES)
    np.testing.assert_allclose(steps.weights, [weights], atol=1e-9)
    np.testing.assert_allclose(steps.output, [output], atol=1e-9)


def test_each_step_follows_from_the_one_before():
    query, key, value = arrays()
    mask = ~hidden_by_look_ahead(7)[:5]
    steps = dot_product_attention(query, key, value, mask)
    np.testing.assert_allclose(steps.scaled * 2, steps.products)  # the width is 4
    assert (np.isneginf(steps.logits) == ~mask).all()
    np.testing.assert_array_equal(steps.logits[mask], steps.scaled[mask])
    assert (steps.weights[~mask] == 0).all()
    np.testing.assert_allclose(steps.weights.sum(-1), 1)
    np.testing.assert_allclose(steps.weighted_values(3).sum(0), steps.output[3])


def test_without_scaling_the_largest_weight_grows():
    query, key, value = arrays()
    scaled = dot_product_attention(query, key, value)
    plain = dot_product_attention(query, key, value, scaling=False)
    np.testing.assert_array_equal(plain.scaled, plain.products)
    assert (plain.weights.max(-1) > scaled.weights.max(-1)).all()


def test_huge_logits_overflow_nowhere():
    np.testing.assert_array_equal(softmax(np.array([1e12, -1e12, -np.inf])), [1, 0, 0])


def test_no_keys_give_no_weights():
    steps = dot_product_attention(np.ones((2, 3)), np.ones((0, 3)), np.ones((0, 4)))
    assert steps.weights.shape == (2, 0)
    np.testing.assert_array_equal(steps.output, np.zeros((2, 4)))


@pytest.mark.parametrize(
    ("query", "key", "value", "mask", "message"),
    [
        ([[1, 2]], [[1, 2, 3]], [[1]], None, "equally wide"),
        ([[1, 2]], [[1, 2]], [[1], [2]], None, "each key needs a value"),
        ([1, 2], [[1, 2]], [[1]], None, r"query should have the shape \(rows, width\)"),
        ([[1, 2]], [[1, 2]], [[1]], [[True, True]], r"mask should have the shape \(1, 1\)"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(query, key, value, mask, message):
    with pytest.raises(ValueError, match=message):
        dot_product_attention(query, key, value, mask)


def test_what_is_hidden_is_what_the_networks_may_not_look_at():
    ids = np.array([[5, 6, 3, 0], [7, 3, 0, 0]])
    allowed = ops.convert_to_numpy(attention.padding_mask(ids))[:, 0, 0]
    np.testing.assert_array_equal(hidden_by_padding(ids), ~allowed)
    allowed = ops.convert_to_numpy(attention.look_ahead_mask(4))[0, 0]
    np.testing.assert_array_equal(hidden_by_look_ahead(4), ~allowed)
