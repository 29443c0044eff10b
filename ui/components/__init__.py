"""Streamlit components with JavaScript: text area, corrected text, figures, drawn network.

Scripts that need no Streamlit are in ``viz/browser``.
"""
