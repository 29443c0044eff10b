"""A fragment that runs again and again, asked by the browser."""

import time

import streamlit as st

# Streamlit's own ``run_every`` keeps asking for the page that was open when its timer began. Where Back has just led to
# another page and the server has not yet turned to it, that question takes it back to the old one.
_COMPONENT = st.components.v2.component(
    "ticking",
    js="""
export default function ({ data, setTriggerValue }) {
  const path = window.location.pathname;
  const ask = () => window.location.pathname === path && setTriggerValue("tick", data.turn);
  const timer = setTimeout(ask, 1000 * data.seconds);
  return () => clearTimeout(timer);
}
""",
)


def run_again_after(seconds: float, key: str) -> None:
    """Run the fragment that this stands in again, once, ``seconds`` after the browser has received it.

    Nothing is asked once the browser shows another page.
    """
    _COMPONENT(key=key, data={"seconds": seconds, "turn": time.monotonic()}, on_tick_change=lambda: None)
