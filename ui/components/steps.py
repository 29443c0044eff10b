"""Decoding replayed step by step; moving in it runs no page again."""

from collections.abc import Callable

import streamlit as st

from viz.lens.steps import STEPS

_COMPONENT = st.components.v2.component("steps", html=STEPS.html, css=STEPS.css, js=STEPS.js)


def steps(data: dict, key: str, on_step: Callable[[int], None]) -> None:
    """Show the player of ``viz.lens.steps.steps_data``.

    ``on_step`` receives the step, counted from 1, once the visitor has come to rest at another one. The
    browser leads: an answer that arrives late moves nothing, only another ``revision`` goes to ``step``.
    """
    _COMPONENT(key=key, data=data, on_step_change=lambda: on_step(st.session_state[key]["step"]))
