"""The page about the library says what its docstrings say."""

import importlib.util
from pathlib import Path

PATH = Path(__file__).parents[1] / "docs" / "api.py"


def test_the_page_is_up_to_date():
    spec = importlib.util.spec_from_file_location("docs_api", PATH)
    api = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(api)
    assert api.PAGE.read_text("utf-8") == api.page(), "run: python docs/api.py"
