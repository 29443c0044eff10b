"""Paths of the shipped files: models, examples, lesson plans, texts; the first map.

No other module looks for them. A checkout and an installed wheel have the same folders side by side, so the
same paths hold in both. importlib.resources would find the same folders, since pip unpacks a wheel; Streamlit
and ONNX Runtime ask for paths.
"""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent  # one folder for each shipped model
EXAMPLES = FOLDER / "examples.json"  # the sentences that the page offers
LESSONS = FOLDER / "lessons.json"  # steps of lesson plans, by ``python -m training documents``
TEXTS = FOLDER / "texts"  # one folder for each language
STATIC = FOLDER.parent / "static"  # font and Plotly; beside app.py, because Streamlit serves them from there

# What a visitor looks at first, in the app and on the site. Of four layers it is the one where the shipped
# model aligns what it writes with what it reads.
FIRST_MAP = {"kind": "cross_attention", "layer": "3", "head": "mean"}
