"""The app with the corrector of ``fake_corrector``, opened without a browser."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.fake_corrector import FakeCorrector
from ui import loaders

ROOT = Path(__file__).parents[2]


@pytest.fixture
def fake_corrector(monkeypatch) -> FakeCorrector:
    """The pages' model for one test."""
    corrector = FakeCorrector()
    monkeypatch.setattr(loaders, "load_corrector", lambda: corrector)
    loaders.correct.clear()
    loaders.trace.clear()
    return corrector


@pytest.fixture
def open_app(fake_corrector):
    """Opens a page of the app at an address: ``open_app(page="positions", lang="en")``."""

    def open_page(page: str = "attention", **settings: str) -> AppTest:
        app = AppTest.from_file(ROOT / "app.py", default_timeout=20)
        for name, value in settings.items():
            app.query_params[name] = value
        if page != "attention":
            app.switch_page(f"ui/pages/{page}.py")
        return app.run()

    return open_page
