"""See a Transformer think: `streamlit run app.py` serves the pages below."""

import streamlit as st

from ui import prefetch

st.set_page_config(layout="wide")
prefetch.plotly()

# The rest loads what draws the pages; the browser is busy with Plotly meanwhile.
from ui import address, controls, toolbar
from ui.texts import say

PAGES = ("attention", "calculation", "masks", "positions", "network", "model")  # the first is the entrance

controls.header()
page = st.navigation(
    [
        st.Page(f"ui/pages/{name}.py", title=say(f"{name}_page"), url_path=name, default=name == PAGES[0])
        for name in PAGES
    ],
    position="top",
)
address.publish(page.url_path)
page.run()
toolbar.mount()
