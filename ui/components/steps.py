"""Puts the replay of decoding (``viz/browser/steps.py``) on a page. Moving through the steps does not run the page again."""

from collections.abc import Callable

from ui.components.heard import heard
from ui.components.packed import component
from viz.browser.steps import STEPS

_COMPONENT = component("steps", html=STEPS.html, css=STEPS.css, js=STEPS.js)


def steps(
    data: dict, key: str, on_step: Callable[[int], None], on_parted: Callable[[int, int], None]
) -> None:
    """Show the player of ``viz.browser.steps.steps_data``.

    ``on_step`` receives the step, counted from 1, once the visitor has come to rest at another one. The
    browser leads: an answer that arrives late moves nothing, only another ``revision`` goes to ``step``.
    ``on_parted`` receives a step, counted from 1, and the place of the candidate that shall be written there instead,
    counted from 0; -1 for what was typed.
    """

    def answer() -> None:
        step = heard(key, "step")
        if type(step) is int:
            on_step(step)

    def part() -> None:
        match heard(key, "parted"):
            case [step, place] if type(step) is type(place) is int:
                on_parted(step, place)

    _COMPONENT(key=key, data=data, on_step_change=answer, on_parted_change=part)
