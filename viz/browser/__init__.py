"""What draws in a browser by itself: a component in Python (its data) and JavaScript (its drawing), without
Streamlit.
"""
