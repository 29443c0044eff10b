"""Colours of weights: steady, one colour for almost nothing, and powers of ten evenly spaced on a logarithm."""

import numpy as np
import pytest

from viz import FAINT, THEMES
from viz.theme import weight_colours


def colour_at(colours, weight: float) -> np.ndarray:
    """(3,) channels of the colour that Plotly gives a weight: linear between the stops."""
    places, names = zip(*colours.scale, strict=True)
    channels = [[int(name[at : at + 2], 16) for at in (1, 3, 5)] for name in names]
    place = (weight - colours.lowest) / (colours.highest - colours.lowest)
    return np.array([np.interp(place, places, channel) for channel in zip(*channels, strict=True)])


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("difference", [False, True])
@pytest.mark.parametrize("logarithmic", [False, True])
@pytest.mark.parametrize("largest", [1.0, 0.3, 0.0001])
def test_stops_rise_from_0_to_1(theme, difference, logarithmic, largest):
    colours = weight_colours(largest, theme, difference=difference, logarithmic=logarithmic)
    places = [place for place, _ in colours.scale]
    assert (places[0], places[-1]) == (0, 1)
    assert (np.diff(places) >= 0).all()
    assert [place for place, _ in colours.even_scale][:: len(colours.even_scale) - 1] == [0, 1]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("logarithmic", [False, True])
def test_almost_nothing_has_the_grounds_colour_and_a_little_more_is_a_visible_step_away(theme, logarithmic):
    colours = weight_colours(1.0, theme, difference=False, logarithmic=logarithmic)
    ground = colour_at(colours, 0.0)
    np.testing.assert_allclose(colour_at(colours, 0.9 * FAINT), ground, atol=0.5)
    assert np.abs(colour_at(colours, 1.2 * FAINT) - ground).max() >= 10


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("largest", [1.0, 0.4])
def test_a_difference_starts_from_the_ground_at_0_and_grows_without_a_step(theme, largest):
    colours = weight_colours(largest, theme, difference=True, logarithmic=False)
    ground = colour_at(colours, 0.0)
    assert colours.ground == {"light": "#ffffff", "dark": "#11161d"}[theme]
    np.testing.assert_array_equal(ground, colour_at(colours, -0.0))
    weights = np.linspace(-largest, largest, 4001)
    painted = np.array([colour_at(colours, weight) for weight in weights])
    assert np.abs(np.diff(painted, axis=0)).max() <= 1  # of 255, from one weight to the next
    for little in (-0.005 * largest, 0.005 * largest):  # what nearly every cell of such a map holds
        assert np.abs(colour_at(colours, little) - ground).max() <= 3


@pytest.mark.parametrize("theme", THEMES)
def test_a_third_of_the_largest_difference_is_easily_seen(theme):
    colours = weight_colours(0.96, theme, difference=True, logarithmic=False)
    ground = colour_at(colours, 0.0)
    for weight in (0.32, -0.32):
        assert np.abs(colour_at(colours, weight) - ground).max() >= 60


@pytest.mark.parametrize("theme", THEMES)
def test_a_logarithm_of_differences_leaves_the_ground_at_the_faintest_weight_without_a_step(theme):
    colours = weight_colours(1.0, theme, difference=True, logarithmic=True)
    ground = colour_at(colours, 0.0)
    for sign in (-1, 1):
        np.testing.assert_allclose(colour_at(colours, sign * FAINT), ground, atol=0.5)
        assert np.abs(colour_at(colours, sign * 0.01) - ground).max() >= 60


def test_each_power_of_ten_has_the_same_part_of_a_logarithm():
    linear = weight_colours(1.0, "light", difference=False, logarithmic=False)
    colours = weight_colours(1.0, "light", difference=False, logarithmic=True)
    for power in (-2, -1):
        share = (power + 3) / 3
        even = colour_at(linear, FAINT + share * (1 - FAINT))
        np.testing.assert_allclose(colour_at(colours, 10.0**power), even, atol=6)


def test_a_difference_has_one_hue_below_0_and_another_above():
    colours = weight_colours(1.0, "light", difference=True, logarithmic=False)
    assert (colours.lowest, colours.highest) == (-1, 1)
    below, above = colour_at(colours, -0.5), colour_at(colours, 0.5)
    assert below[2] > below[0] and above[0] > above[2]


@pytest.mark.parametrize(
    ("difference", "largest", "texts"),
    [
        (False, 1.0, ["0.001", "0.01", "0.1", "1"]),
        (False, 0.3, ["0.001", "0.01", "0.1"]),
        (True, 1.0, ["−0.1", "−1", "±0.001", "0.1", "1"]),
    ],
)
def test_the_bar_of_a_logarithm_names_powers_of_ten(difference, largest, texts):
    bar = weight_colours(largest, "light", difference=difference, logarithmic=True).bar({})["marker"]
    assert bar["colorbar"]["ticktext"] == texts
    assert (np.abs(bar["colorbar"]["tickvals"]) <= bar["cmax"]).all()
