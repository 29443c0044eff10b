"""Only the units that may open are computed, and nothing is lost by that."""

import numpy as np
import pytest

from model.activations.sublayers import Units

WIDTH, HIDDEN = 16, 200


@pytest.fixture
def weights():
    rng = np.random.default_rng(0)
    kernels = rng.normal(size=(WIDTH, HIDDEN)), rng.normal(size=(HIDDEN, WIDTH))
    return (kernels[0], rng.normal(-2, 1, HIDDEN), kernels[1], rng.normal(size=WIDTH))


@pytest.mark.parametrize("reach", [0, 1e-3, 0.3, 30])
def test_variations_near_and_far_give_what_the_whole_network_gives(weights, reach):
    hidden, hidden_bias, output, output_bias = weights
    rng = np.random.default_rng(1)
    row = rng.normal(size=WIDTH)
    variations = row + reach * rng.normal(size=(7, WIDTH))
    whole = np.maximum(variations @ hidden + hidden_bias, 0) @ output + output_bias
    units = Units.of(*weights)
    np.testing.assert_allclose(units.near(row, units.entered(row), variations), whole, atol=1e-9)


def test_a_unit_that_only_one_variation_opens_is_computed():
    units = Units.of(np.array([[1.0]]), np.array([-5.0]), np.array([[2.0]]), np.array([0.0]))
    row = np.array([0.0])
    assert units.near(row, units.entered(row), np.array([[0.0], [6.0]])).tolist() == [[0.0], [2.0]]
