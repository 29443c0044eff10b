"""Figures without a sentence, which the browser fills in, and the sizes that it computes with.

``viz`` makes each figure for one sentence, and no Python runs in the browser, where the sentence changes at each key. So the page gets
the figures that ``viz`` made for some sentence, and ``js/figures.js`` replaces what depends on the sentence: places, labels, sizes. A test
compares the result with what ``viz`` makes of the same sentence.
"""

import sys
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

from deploy.site.more_figures import more_figures, more_sizes
from model.trace.trace import AttentionTrace
from viz import attention as attention_info
from viz import axes as token_axis
from viz import figure, labels
from viz import head_grid as head_tiles
from viz.browser.explore_data import explorer_data
from viz.browser.texts import Say
from viz.head_grid import _FOOT, _NAMES_HEIGHT

# Left out of a template, since they are of one sentence only and large.
_FILLED = ("weights", "cross", "self", "alternatives", "alternative_probabilities", "probabilities")


def template(say: Say, trace: AttentionTrace, theme: str, width: int) -> dict[str, Any]:
    """The figures of ``trace`` without its numbers, in which those of any other trace of the same network can be filled in.

    ``width``: D of the network.
    """
    data = explorer_data(say, trace, theme)
    for kind in data["kinds"]:
        kind.pop("weights")
    for name in _FILLED:
        data["steps"].pop(name, None)
    data["words"]["note"] = say("site_note")
    data["change_labels"] = {name: _label(say, *sides) for name, sides in _SIDES.items()}
    data["token_name"] = say("lines_name", token="{token}", place="{place}")
    data["more"] = more_figures(say, trace, width, theme)
    return data


_SIDES = {"replaced": ("{wrong}", "{right}"), "inserted": ("", "{right}"), "deleted": ("{wrong}", "")}


def _label(say: Say, wrong: str, right: str) -> str:
    return say(
        f"steps_change_{'replaced' if wrong and right else 'inserted' if right else 'deleted'}",
        wrong=wrong,
        right=right,
    )


def sizes() -> dict[str, Any]:
    """The numbers by which ``viz`` lays figures out.

    >>> sizes()["TITLE_HEIGHT"]
    34
    """
    return {
        **_numbers(attention_info, "SCALE_HEIGHT LEGEND_HEIGHT NAME_HEIGHT FOOT LEAST_LEFT LEAST_LABEL"),
        **_numbers(
            token_axis,
            "DESIGN_WIDTH LARGEST_CELL SMALLEST_SQUARE_CELL SMALLEST_FONT LARGEST_FONT MOST_STEPS MOST_LABELLED_ROWS HEIGHT_OF_MANY_ROWS",
        ),
        **_numbers(head_tiles, "WIDTH MOST_CELLS _LARGEST_TILE _SMALLEST_TILE"),
        **_numbers(labels, "TICK_LENGTH NARROW_EM"),
        **_numbers(figure, "TITLE_HEIGHT"),
        "GRID_NAMES": _NAMES_HEIGHT,
        "GRID_FOOT": _FOOT,
        "WIDE": _wide(),
        **more_sizes(),
    }


def _numbers(module: Any, names: str) -> dict[str, float]:
    return {name.lstrip("_"): getattr(module, name) for name in names.split()}


def _wide() -> str:
    """The characters that are as wide as they are high, as a class of JavaScript's expressions."""
    wide = (code for code in range(sys.maxunicode + 1) if unicodedata.east_asian_width(chr(code)) in "WF")
    ends = (rf"\u{{{first:x}}}-\u{{{last:x}}}" for first, last in _runs(wide))
    return f"[{''.join(ends)}]"


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    first = last = -2
    for number in numbers:
        if number != last + 1:
            if last >= 0:
                yield first, last
            first = number
        last = number
    yield first, last
