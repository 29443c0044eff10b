import numpy as np
import pytest

from viz.browser.lines import strongest_edges


def test_the_fewest_keys_that_carry_the_mass_the_strongest_first():
    weights = np.array([[0.25, 0.5, 0.25], [0.0, 0.125, 0.875]], np.float32)
    assert strongest_edges(weights, 0.5) == [(0, 1, 0.5), (1, 2, 0.875)]
    assert strongest_edges(weights, 0.6) == [(0, 1, 0.5), (0, 0, 0.25), (1, 2, 0.875)]
    assert strongest_edges(weights, 1) == [
        (0, 1, 0.5), (0, 0, 0.25), (0, 2, 0.25), (1, 2, 0.875), (1, 1, 0.125),
    ]  # fmt: skip
    assert strongest_edges(weights, 0) == []


def test_every_row_gets_its_mass_and_not_a_key_more():
    weights = np.random.default_rng(3).random((40, 30)).astype(np.float32) ** 4
    weights /= weights.sum(1, keepdims=True)
    for mass in (0.3, 0.5, 0.9, 0.99):
        edges = strongest_edges(weights, mass)
        for row in range(40):
            kept = [weight for query, _, weight in edges if query == row]
            assert sum(kept) >= mass - 2e-6
            assert sum(kept[:-1]) < mass
            assert kept == sorted(kept, reverse=True)
        assert all(weights[query, key] == np.float32(weight) for query, key, weight in edges)


def test_rounding_draws_no_line_too_many():
    thirds = np.full((1, 3), 1 / 3, np.float32)
    assert len(strongest_edges(thirds, 2 / 3)) == 2
    tenths = np.full((1, 10), 0.1, np.float32)
    assert [len(strongest_edges(tenths, share / 10)) for share in range(11)] == list(range(11))


def test_masked_cells_and_empty_rows_have_no_edges():
    causal = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.5, 0.5, 0.0]], np.float32)
    assert strongest_edges(causal, 1.0) == [(0, 0, 1.0), (2, 0, 0.5), (2, 1, 0.5)]
    assert strongest_edges(np.zeros((0, 0)), 0.9) == []


@pytest.mark.parametrize("mass", [-0.1, 1.1, float("nan")])
def test_a_mass_outside_its_range_is_refused(mass):
    with pytest.raises(ValueError, match=f"received {mass}"):
        strongest_edges(np.ones((1, 1)), mass)


def test_what_is_no_map_of_weights_is_refused():
    for weights in (np.ones(3), np.array([[0.5, -0.5]])):
        with pytest.raises(ValueError, match="and not negative"):
            strongest_edges(weights, 0.5)
