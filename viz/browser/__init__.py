"""Browser components without Streamlit: data from Python, drawing in JavaScript."""
