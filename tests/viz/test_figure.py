"""Parts that all figures share: specification, theme, colour scales, labels."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

import viz
from tests.viz.test_charts import INPUTS
from viz import (
    FAINT,
    THEMES,
    MapTexts,
    attention_heatmap,
    head_grid,
)
from viz.figure import to_json
from viz.labels import token_label
from viz.theme import TYPE_SIZE, palette, weight_colours

RNG = np.random.default_rng(0)
WEIGHTS = RNG.dirichlet(np.ones(5), (2, 3, 4)).astype(np.float32)
CAUSAL = np.triu(np.ones((4, 4), bool), 1)
SQUARE = np.where(CAUSAL, 0, RNG.random((4, 4), np.float32))
TOKENS = ("<s>", "가", "<b>", " ", "\n")


def heatmap(weights=WEIGHTS[0, 0], queries=TOKENS[:4], keys=TOKENS, **options):
    return attention_heatmap, (weights, queries, keys), options


WITH_SPECIFICATION = {name for name in INPUTS if hasattr(getattr(viz, name), "specification")}
FIGURES = {
    "heatmap": heatmap(),
    "masked": heatmap(SQUARE, keys=TOKENS[:4], masked=CAUSAL, theme="dark"),
    "chosen": heatmap(
        selected=(1, 2), emphasis_rows=[0, 3], extent=40, texts=MapTexts("제목", "<물음>", "&")
    ),
    "logarithmic": heatmap(logarithmic=True, colour_max=None),
    "difference": heatmap(WEIGHTS[0, 0] - WEIGHTS[1, 0], difference=True, logarithmic=True),
    "without the marks": heatmap(first=(1, 1)),
    "no tokens": heatmap(np.zeros((0, 0)), (), ()),
    "long": heatmap(np.full((150, 150), 1 / 150), ["가"] * 150, ["나"] * 150),
    "grid": (head_grid, (WEIGHTS,), {"chosen": [(0, 1)], "title": "제목"}),
    "ordered grid": (
        head_grid, (WEIGHTS,), {"order": [(1, 2), (0, 0)], "labels": ["<a>", "나"], "scale": False},
    ),
    "grid of doubles": (head_grid, (WEIGHTS.astype(float),), {"theme": "dark"}),
    "empty grid": (head_grid, (np.zeros((0, 0, 0, 0)),), {}),
    **{name: (getattr(viz, name), *INPUTS[name]) for name in sorted(WITH_SPECIFICATION)},
}  # fmt: skip


def read(text: str) -> dict:
    """The figure without parts that mean nothing, which Plotly leaves out or fills in: empty lists, and an
    empty template for each kind of trace.
    """
    figure = json.loads(text)
    layout = {name: value for name, value in figure["layout"].items() if value != [] and name != "template"}
    return {"data": figure["data"], "layout": layout}


@pytest.mark.parametrize("name", FIGURES)
def test_plotly_would_send_the_same(name):
    function, arguments, options = FIGURES[name]
    sent = to_json(function.specification(*arguments, **options))
    assert read(sent) == read(function(*arguments, **options).to_json())


def test_what_json_cannot_say_is_an_error():
    with pytest.raises(TypeError, match="received <object"):
        to_json({"data": [{"x": object()}], "layout": {}})
    with pytest.raises(ValueError):
        to_json({"data": [{"x": [float("nan")]}], "layout": {}})


ROOT = Path(__file__).parents[2]


def lightness(colour: str) -> float:
    """CIE L* of a ``#rrggbb`` colour (IEC 61966-2-1 for the sRGB curve)."""
    channels = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    return 116 * np.cbrt(luminance) - 16 if luminance > 0.008856 else 903.3 * luminance


@pytest.mark.parametrize("theme", THEMES)
def test_more_weight_is_steadily_further_from_the_background(theme):
    steps = np.diff([lightness(colour) for colour in palette(theme).sequential])
    assert (np.abs(steps) > 6).all()
    assert len(set(np.sign(steps))) == 1


@pytest.mark.parametrize("theme", THEMES)
def test_the_diverging_scale_is_extreme_in_the_middle(theme):
    below, above = np.split(np.sign(np.diff([lightness(colour) for colour in palette(theme).diverging])), 2)
    assert len(set(below)) == 1
    assert (below == -above).all()


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_sixth_of_the_largest_amount_is_seen_on_the_dark_ground(sign):
    """Most amounts that a head adds are smaller than that.

    Compared as WCAG 2 does: (brighter + 0.05) / (darker + 0.05).
    """
    scale = palette("dark").diverging[::sign]
    half = [lightness(colour) for colour in scale[len(scale) // 2 :]]
    shown = np.interp([0, 1 / 6], np.linspace(0, 1, len(half)), half)
    ground, sixth = ((shown + 16) / 116) ** 3
    assert (sixth + 0.05) / (ground + 0.05) > 2


@pytest.mark.parametrize("theme", THEMES)
def test_text_stands_out_from_what_lies_behind_it(theme):
    colours = palette(theme)
    assert abs(lightness(colours.text) - lightness(colours.hover_background)) > 70
    assert abs(lightness(colours.quiet_text) - lightness(colours.hover_background)) > 40
    assert len(set(colours.qualitative)) == len(colours.qualitative)


def test_type_is_as_large_as_the_app_says():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert config["theme"]["baseFontSize"] == TYPE_SIZE


def colour_at(colours, weight: float | np.ndarray) -> np.ndarray:
    """(3, …) channels of the colours that Plotly gives weights: linear between the stops."""
    places, names = zip(*colours.scale, strict=True)
    channels = [[int(name[at : at + 2], 16) for at in (1, 3, 5)] for name in names]
    place = (weight - colours.lowest) / (colours.highest - colours.lowest)
    return np.array([np.interp(place, places, channel) for channel in zip(*channels, strict=True)])


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
    painted = colour_at(colours, weights)
    assert np.abs(np.diff(painted)).max() <= 1  # of 255, from one weight to the next
    for little in (-0.005 * largest, 0.005 * largest):  # nearly every cell of such a map is as small
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


@pytest.mark.parametrize(
    ("token", "label"),
    [
        ("<s>", "&lt;s&gt;"),
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("&", "&amp;"),
        ("&lt;", "&amp;lt;"),
        ("$x$", "&#36;x&#36;"),
        (" ", "␣"),
        ("\u202e", "U+202E"),
        ("\ud800", "U+D800"),
        ("\u0301", "◌\u0301"),
        ("\u200d", "U+200D"),
        ("👨\u200d👩", "👨\u200d👩"),
        ("", ""),
    ],
)
def test_token_label(token, label):
    assert token_label(token) == label


def test_a_long_label_is_cut_before_it_is_escaped():
    assert token_label("&" * 50, limit=4) == "&amp;&amp;&amp;…"
    assert token_label("가" * 16) == "가" * 16
    assert token_label("가" * 17) == "가" * 15 + "…"
