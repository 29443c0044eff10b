"""Decoding replayed step by step; moving in it runs no page again."""

from collections.abc import Callable

import streamlit as st

from ui.components.heard import heard
from viz.lens.steps import STEPS

_COMPONENT = st.components.v2.component("steps", html=STEPS.html, css=STEPS.css, js=STEPS.js)


def steps(data: dict, key: str, on_step: Callable[[int], None]) -> None:
    """Show the player of ``viz.lens.steps.steps_data``.

    ``on_step`` receives the step, counted from 1, once the visitor has come to rest at another one. The
    browser leads: an answer that arrives late moves nothing, only another ``revision`` goes to ``step``.
    """

    def answer() -> None:
        step = heard(key, "step")
        if type(step) is int:
            on_step(step)

    _COMPONENT(key=key, data=data, on_step_change=answer)
