"""Colours that keep their order for every eye, and a toolbar that keeps what was typed in the room."""

import numpy as np
import pytest

from viz import THEMES, config
from viz.theme import base_layout, colour_scale, palette


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
    steps = np.sign(np.diff([lightness(colour) for colour in palette(theme).diverging]))
    assert (steps[:3] == -steps[3:]).all()
    assert len(set(steps[:3])) == 1


@pytest.mark.parametrize("theme", THEMES)
def test_text_stands_out_from_what_lies_behind_it(theme):
    colours = palette(theme)
    assert abs(lightness(colours.text) - lightness(colours.hover_background)) > 70
    assert abs(lightness(colours.quiet_text) - lightness(colours.hover_background)) > 40
    assert len(set(colours.lines)) == len(colours.lines)


def test_colour_scales_run_from_0_to_1():
    assert colour_scale(("#000", "#888", "#fff")) == [[0, "#000"], [0.5, "#888"], [1, "#fff"]]


def test_layout_is_transparent_and_falls_back_to_fonts_with_hangul():
    layout = base_layout("dark")
    assert layout["paper_bgcolor"] == "rgba(0,0,0,0)"
    assert layout["font"]["family"].startswith("Noto Sans KR Subset, Noto Sans KR")


def test_the_toolbar_neither_uploads_nor_advertises_nor_takes_the_wheel():
    settings = config()
    assert [settings[name] for name in ("showSendToCloud", "displaylogo", "scrollZoom")] == [False] * 3
    assert settings["responsive"]


def test_images_can_be_saved_as_png_or_svg():
    assert config()["toImageButtonOptions"] == {"format": "png", "filename": "figure", "scale": 3}
    assert config("svg", "주의")["toImageButtonOptions"] == {"format": "svg", "filename": "주의", "scale": 1}
    with pytest.raises(ValueError, match="received 'gif'"):
        config("gif")


def test_an_unknown_theme_is_named():
    with pytest.raises(ValueError, match="received 'blue'"):
        palette("blue")
