"""The Streamlit pages: controls bound to the address, and pictures from ``viz``. Nothing here computes attention."""
