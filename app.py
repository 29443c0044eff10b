"""See a Transformer think: `streamlit run app.py` serves the pages below."""

import streamlit as st

from ui import address, controls
from ui.texts import say

st.set_page_config(layout="wide")
controls.header()
page = st.navigation(
    [
        st.Page("ui/pages/attention.py", title=say("attention_page"), url_path="attention", default=True),
        st.Page("ui/pages/positions.py", title=say("positions_page"), url_path="positions"),
        st.Page("ui/pages/model.py", title=say("model_page"), url_path="model"),
    ],
    position="top",
)
address.publish(page.url_path)
page.run()
