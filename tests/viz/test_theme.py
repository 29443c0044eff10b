"""Colours that keep their order for every eye, and type as large as on the page."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from viz import THEMES
from viz.figure import base_layout
from viz.theme import LINE_DASHES, TYPE_SIZE, colour_scale, palette

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
    """Most of what a head adds is smaller than that. Compared as WCAG 2 does: (brighter + 0.05) / (darker + 0.05)."""
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


def test_colour_scales_run_from_0_to_1():
    assert colour_scale(("#000", "#888", "#fff")) == [[0, "#000"], [0.5, "#888"], [1, "#fff"]]


def test_layout_is_transparent_and_falls_back_to_fonts_with_hangul():
    layout = base_layout("dark")
    assert layout["paper_bgcolor"] == "rgba(0,0,0,0)"
    assert layout["font"]["family"].startswith("Noto Sans KR Subset, Noto Sans KR")


def test_there_is_a_pattern_of_dashes_for_each_colour_of_lines():
    for theme in THEMES:
        assert len(set(LINE_DASHES)) == len(palette(theme).qualitative)


def test_type_is_as_large_as_the_app_says():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert config["theme"]["baseFontSize"] == TYPE_SIZE
