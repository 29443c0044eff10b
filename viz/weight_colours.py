"""The colour of a weight: on a linear or a logarithmic scale, for weights or for differences."""

from dataclasses import dataclass
from math import log10

import numpy as np

from viz.theme import palette

# Weights below this are almost 0. They have the colour of the figure's ground.
FAINT = 0.001

_STEPS_OF_A_LOGARITHM = 24


@dataclass(frozen=True)
class WeightColours:
    """The colours of weights from ``lowest`` to ``highest``.

    Weights below FAINT have the colour of the ground; at FAINT the scale begins with a visible step, so that
    almost nothing and little look different. Differences have no such step: nearly all of them are a little
    more or less than 0, and a step would colour the whole picture. Their colours begin at 0, on a logarithmic scale at
    FAINT, because a logarithm has no 0.
    """

    lowest: float
    highest: float
    scale: list[list]  # Plotly's form, over the weights themselves: they reach the figure as they are
    ground: str  # of what is almost 0
    even_scale: list[list]  # the same colours, evenly spaced: what the colour bar of a logarithm shows
    logarithmic: bool

    def bar(self, place: dict) -> dict:
        """An invisible trace with the colour bar of a logarithmic scale; a heatmap's own bar is linear."""
        decades = log10(self.highest / FAINT)
        powers = [exponent for exponent in range(4) if exponent <= decades + 1e-6]
        values = {exponent: f"{FAINT * 10**exponent:g}" for exponent in powers}
        if self.lowest < 0:
            # On half the length there is no room for each power.
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
        return {
            "type": "scatter",
            "x": [None],
            "y": [None],
            "mode": "markers",
            "marker": marker,
            "showlegend": False,
        }


def weight_colours(largest: float, theme: str, *, difference: bool, logarithmic: bool) -> WeightColours:
    """Colours for weights from 0 to ``largest``, or for differences from ``-largest`` to ``largest``."""
    largest = max(largest, 10 * FAINT)  # a scale needs some length above what it calls almost 0
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
    """(weight, colour) from ``first`` to ``largest``; along a logarithm from FAINT, dense enough to look smooth."""
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
