"""Fixtures: the app without a browser, over fake or planted correctors."""

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner import script_runner
from streamlit.testing.v1 import AppTest

from model.stored.folder import ASSETS, ModelEntry
from tests.planted import WRONG
from tests.ui.fake_corrector import FakeCorrector, one_map_trace
from ui.asking import loaders
from ui.shell import address
from ui.shell.settings import defaults

ROOT = Path(__file__).parents[2]


def entry(path: Path, architecture: str = "transformer", problem: str | None = None) -> ModelEntry:
    return ModelEntry(path.name, path, architecture, problem)


@pytest.fixture(autouse=True)
def no_engine(monkeypatch):
    """Pages without an engine: ``loaders.engine()`` is None, so no process starts."""
    monkeypatch.setattr(loaders, "engine", lambda: None)


@pytest.fixture(autouse=True)
def keras_is_left_alone(monkeypatch):
    """Keep Streamlit from emptying Keras's session after each run of a script.

    It does so wherever Keras is imported: never in a server's page process, but in these tests' process,
    which has run tests of the networks. It takes seconds a run.
    """
    monkeypatch.setattr(script_runner, "_clean_problem_modules", lambda: None)


@pytest.fixture(autouse=True)
def no_packages_of_components(monkeypatch):
    """Keep Streamlit from searching all installed packages for components.

    It reads their metadata whenever a test opens the app; a server does it once. It took a third of these
    tests' time, and the app's components are in no package.
    """
    monkeypatch.setattr(manifest_scanner, "scan_component_manifests", list)


@pytest.fixture(autouse=True)
def every_run_ends_well(monkeypatch):
    """Fail a test in which a page shows an exception, in any of its runs."""
    run = AppTest._run

    def checked(app: AppTest, *arguments, **named) -> AppTest:
        run(app, *arguments, **named)
        assert not app.exception, app.exception[0].value
        return app

    monkeypatch.setattr(AppTest, "_run", checked)


@pytest.fixture
def settings(monkeypatch) -> dict[str, str]:
    """The settings of the address, without a session."""
    view = dict(defaults())
    monkeypatch.setattr(address, "_view", lambda: view)
    return view


@pytest.fixture
def entries(monkeypatch) -> list[ModelEntry]:
    """The models the app finds on disk; a test adds its own."""
    found = [entry(ASSETS / "transformer"), entry(ASSETS / "seq2seq", "seq2seq")]
    monkeypatch.setattr(loaders, "list_entries", lambda: tuple(found))
    return found


@pytest.fixture
def correctors(monkeypatch, entries) -> dict[str, FakeCorrector]:
    """The model behind each name, for one test."""
    named = {"transformer": FakeCorrector(), "seq2seq": FakeCorrector("recurrent", one_map_trace)}
    for opened in ("load_corrector", "open_corrector"):
        monkeypatch.setattr(loaders, opened, lambda path: named[path.name])
    return named


def opened(page: str = "attention", **settings: str) -> AppTest:
    """A page of the app, opened at an address."""
    app = AppTest.from_file(ROOT / "app.py", default_timeout=60)
    for name, value in settings.items():
        app.query_params[name] = value
    if page != "attention":
        app.switch_page(f"ui/pages/{page}.py")
    return app.run()


@pytest.fixture
def open_app(correctors):
    """Opens a page over ``correctors``: ``open_app(page="positions", lang="en")``."""
    return opened


@pytest.fixture
def open_planted(open_app, correctors, planted_writer):
    """Opens the page at a view, with the planted network, not the shipped one, and its change in focus."""

    def open_at(view: str, /, **settings: str):
        correctors["transformer"] = planted_writer
        return open_app(**{"view": view, "sentence": WRONG, "edit": "1"} | settings)

    return open_at


@pytest.fixture
def open_laboratory(open_app, correctors, planted):
    """Opens the laboratory at an experiment, over the planted network, with its change in focus."""

    def open_at(experiment: str, **settings: str):
        correctors["transformer"] = planted
        asked = {"experiment": experiment, "sentence": WRONG, "edit": "1"} | settings
        return open_app(page="laboratory", **asked)

    return open_at


@pytest.fixture
def downloads(monkeypatch) -> dict[str, Callable[[], bytes]]:
    """Label of each download button -> the function that makes its file, called outside of the session."""
    found = {}
    monkeypatch.setattr(st, "download_button", lambda label, make, **rest: found.update({label: make}))
    return found
