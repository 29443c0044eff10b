"""Has the browser fetch Plotly while the first run of the script still imports what it needs.

Streamlit's pages ask for these 4.7 MB of JavaScript when the first figure has arrived, which then waits for them. What is
fetched here under the same address is there by then; where Streamlit renames its file, all is as it was.
"""

from pathlib import Path

import streamlit as st

_FILE = next((Path(st.__file__).parent / "static" / "static" / "js").glob("PlotlyChart.*.js"), None)
_COMPONENT = st.components.v2.component(
    "prefetch",
    js="""
    export default function ({ data }) {
      const app = document.querySelector('script[type="module"][src*="/static/js/"]');
      if (app) import(new URL(data.file, app.src)).catch(() => {});
    }
    """,
)


def plotly() -> None:
    """To be called first of all; it shows nothing."""
    if _FILE:
        _COMPONENT(key="prefetch", data={"file": _FILE.name})
