"""What has JavaScript: text area, corrected text, figures, drawn network. What Streamlit need not know is in ``viz/browser``."""
