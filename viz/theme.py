"""Theme of every figure: fonts, colours and colour scales, light and dark."""

from dataclasses import dataclass
from math import log10

import numpy as np

FONT_FAMILY = (
    "Noto Sans KR Subset, Noto Sans KR, Noto Sans CJK KR, Apple SD Gothic Neo, Malgun Gothic, sans-serif"
)

TYPE_SIZE = 17  # pixels of the page's type, as .streamlit/config.toml has it
PNG_SCALE = 3  # a saved picture has this many pixels for each one on the screen
# So lines differ without colour, too.
LINE_DASHES = (
    "",
    "7 3",
    "2 2.5",
    "11 3 2 3",
    "16 4",
    "5 2 1 2 1 2",
    "1 4",
    "3 6",
)


@dataclass(frozen=True)
class Palette:
    """The colours of one theme, as CSS colours; scales run from the value 0 (or -1) upwards. The middle of
    ``diverging`` is 0 and the colour of the page."""

    text: str
    quiet_text: str
    grid: str  # also the thin lines between heatmap cells
    gap: str  # the colour between cells
    hatch: str
    hover_background: str
    accent: str
    sequential: tuple[str, ...]
    diverging: tuple[str, ...]
    qualitative: tuple[str, ...]  # distinct for the colour-blind, too


# The sequential scales keep one hue. Only their lightness changes, steadily, away from the background. So
# zero looks like nothing, and the order survives every kind of colour blindness and a grey printer. The
# diverging scale of the dark theme leaves its ground quickly: most effects of a head are less than a sixth of
# the largest one, and that would be black on black. Lines and categories have the palette of Okabe and Ito
# (2008), "Color Universal Design". On a dark ground its black turns pale. Its yellow goes last, because it is
# faint on a light ground.
_THEMES = {
    "light": Palette(
        text="#1b2430",
        quiet_text="#566273",
        grid="#e3e8ef",
        gap="#f3f5f8",
        hatch="#8a94a3",
        hover_background="#ffffff",
        accent="#b3400a",
        sequential=("#fbfcfe", "#d3e3f4", "#9cc4e6", "#569bd0", "#1f6bab", "#0a3f77", "#041f42"),
        diverging=("#0b3c7d", "#3f7fc1", "#a5cbe8", "#ffffff", "#f4b79c", "#d0533f", "#7d0c1f"),
        qualitative=("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#C9BC1F"),
    ),
    "dark": Palette(
        text="#e8edf4",
        quiet_text="#a3aebd",
        grid="#2b3442",
        gap="#1c232e",
        hatch="#7d899a",
        hover_background="#1a212c",
        accent="#ffb37a",
        sequential=("#10161f", "#13304f", "#195083", "#2a76b5", "#5ba3da", "#a4d1f2", "#f3faff"),
        diverging=(
            *("#b3dcff", "#7dbcf3", "#4d97db", "#2c6cab"),
            "#11161d",
            *("#a44d40", "#e06f58", "#f79d87", "#ffcbba"),
        ),
        qualitative=("#56B4E9", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#F0E442", "#e8edf4", "#4A9BE0"),
    ),
}

THEMES = tuple(_THEMES)


def palette(theme: str) -> Palette:
    """The colours of ``"light"`` or ``"dark"``; another name raises ValueError."""
    if theme not in _THEMES:
        raise ValueError(f"theme should be one of {THEMES}, received {theme!r}")
    return _THEMES[theme]


def colour_scale(colours: tuple[str, ...]) -> list[list]:
    """Plotly's form of evenly spaced colours: ``[[0, first], …, [1, last]]``.

    Example:
        >>> colour_scale(("#000000", "#ffffff"))
        [[0.0, '#000000'], [1.0, '#ffffff']]
    """
    return [[index / (len(colours) - 1), colour] for index, colour in enumerate(colours)]


# Weights below this are almost 0. They have the colour of the figure's ground.
FAINT = 0.001

_STEPS_OF_A_LOGARITHM = 24


@dataclass(frozen=True)
class WeightColours:
    """The colours of weights from ``lowest`` to ``highest``.

    Weights below FAINT have the colour of the ground; at FAINT the scale begins with a visible step, so that
    almost nothing and little look different. Differences have no such step: nearly all of them are a little
    more or less than 0, and a step would colour the whole picture. Their colours begin at 0, on a logarithmic
    scale at FAINT, because a logarithm has no 0.
    """

    lowest: float
    highest: float
    scale: list[list]  # Plotly's form, over the weights themselves: they reach the figure as they are
    ground: str  # of weights of almost 0
    even_scale: list[list]  # the same colours, evenly spaced: as in the colour bar of a logarithm
    logarithmic: bool

    def bar(self, place: dict) -> dict:
        """An invisible trace with the colour bar of a logarithmic scale; a heatmap's own bar is linear."""
        decades = log10(self.highest / FAINT)
        powers = [exponent for exponent in range(4) if exponent <= decades + 1e-6]
        values = {exponent: f"{FAINT * 10**exponent:g}" for exponent in powers}
        if self.lowest < 0:
            # Half the length has no room for each power.
            values = {exponent: text for exponent, text in values.items() if exponent != 1}
            values = {-exponent: f"−{text}" for exponent, text in values.items() if exponent} | values
            values[0] = f"±{FAINT:g}"
        marker = {
            "color": [0],
            "cmin": -decades if self.lowest < 0 else 0,
            "cmax": decades,
            "colorscale": self.even_scale,
            "showscale": True,
            "colorbar": place | {"tickvals": list(values), "ticktext": list(values.values())},
        }
        return without_points(marker) | {"showlegend": False}


def without_points(marker: dict) -> dict:
    """A trace that shows its marker in the legend, or its colour bar, and nothing in the picture.

    Example:
        >>> without_points({"color": "red"})["x"]
        [None]
    """
    return {"type": "scatter", "x": [None], "y": [None], "mode": "markers", "marker": marker}


def weight_colours(largest: float, theme: str, *, difference: bool, logarithmic: bool) -> WeightColours:
    """Colours for weights from 0 to ``largest``, or for differences from ``-largest`` to ``largest``."""
    largest = max(largest, 10 * FAINT)  # a scale needs some length above almost 0
    colours = palette(theme)
    if difference:
        middle = len(colours.diverging) // 2
        ground, up, down = (
            colours.diverging[middle],
            colours.diverging[middle:],
            colours.diverging[middle::-1],
        )
        above, below = (_stops(ramp, largest, logarithmic, 0.0) for ramp in (up, down))
        if logarithmic:
            above = [(0.0, ground), *above]
        stops = [*((-weight, colour) for weight, colour in reversed(below)), *above]
        even = (*reversed(down), *up[1:])
    else:
        ground, even = colours.sequential[0], _ramp(colours.sequential)
        stops = [(0.0, ground), (FAINT, ground), *_stops(even, largest, logarithmic, FAINT)]
    lowest = -largest if difference else 0.0
    return WeightColours(
        lowest,
        largest,
        [[(value - lowest) / (largest - lowest), colour] for value, colour in stops],
        ground,
        [[place, colour] for place, colour in zip(np.linspace(0, 1, len(even)).tolist(), even, strict=True)],
        logarithmic,
    )


def _ramp(colours: tuple[str, ...]) -> tuple[str, ...]:
    """``colours`` with the first one, the ground, replaced by the colour halfway to the second."""
    return (_mix(colours[0], colours[1], 0.5), *colours[1:])


def _stops(ramp: tuple[str, ...], largest: float, logarithmic: bool, first: float) -> list[tuple[float, str]]:
    """(weight, colour) from ``first`` to ``largest``; along a logarithm from FAINT, dense enough to look
    smooth.
    """
    if not logarithmic:
        return list(zip(np.linspace(first, largest, len(ramp)).tolist(), ramp, strict=True))
    weights = np.geomspace(FAINT, largest, _STEPS_OF_A_LOGARITHM)
    weights[-1] = largest  # a rounding error above it would leave the scale
    shares = np.linspace(0, len(ramp) - 1, _STEPS_OF_A_LOGARITHM)
    return [(float(weight), _between(ramp, share)) for weight, share in zip(weights, shares, strict=True)]


def _between(ramp: tuple[str, ...], place: float) -> str:
    index = min(int(place), len(ramp) - 2)
    return _mix(ramp[index], ramp[index + 1], place - index)


def _mix(one: str, other: str, share: float) -> str:
    """The ``#rrggbb`` colour that lies ``share`` of the way from one to another."""
    channels = ((int(one[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in channels)
