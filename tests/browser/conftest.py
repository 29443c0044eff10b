"""The app as a visitor meets it: one server with the shipped model and one browser for all tests."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from tests.browser.serving import serving
from tests.browser.visit import PATIENCE, LateAnswers, note_elsewhere, settle


def pytest_collection_modifyitems(items):
    """Everything here needs a browser: ``pytest -m "not browser"`` does without."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


def find_chromium(playwright) -> str:
    """$CHROMIUM, the system's, or the one of `playwright install chromium`. Without any, tests fail on CI."""
    for path in (os.environ.get("CHROMIUM"), "/usr/bin/chromium", playwright.chromium.executable_path):
        if path and Path(path).exists():
            return path
    message = "no Chromium: set CHROMIUM to its path, or run `python -m playwright install chromium`"
    return pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)


@pytest.fixture(scope="session")
def server():
    """The address of `streamlit run app.py`, started once; or $APP_ADDRESS, where one runs already."""
    if address := os.environ.get("APP_ADDRESS"):
        yield address
        return
    with serving() as address:
        yield address


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(playwright), args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def contexts(browser):
    """One visitor who prefers light and one who prefers dark; each loads the app's files once."""
    return {colour: browser.new_context(color_scheme=colour) for colour in ("light", "dark")}


@pytest.fixture
def open_page(server, contexts):
    """Opens the app: ``open_page("?lang=en", width=390)``. The page remembers what it asked for outside.

    An error in one of its scripts that nothing caught fails the test. ``late`` answers of the server wait where the test says so.
    """
    pages, errors = [], []

    def open_at(
        path: str = "",
        *,
        width: int = 1280,
        height: int = 900,
        colour: str = "light",
        late: LateAnswers | None = None,
    ) -> Page:
        page = contexts[colour].new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.set_default_timeout(PATIENCE)
        page.requested_elsewhere = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: note_elsewhere(page, request.url, server))
        page.on("websocket", lambda socket: note_elsewhere(page, socket.url, server.replace("http", "ws")))
        if late:
            page.route_web_socket("**/_stcore/stream", late.stand_between)
        page.goto(f"{server}/{path}")
        page.wait_for_selector("h1")
        settle(page)
        return page

    yield open_at
    for page in pages:
        page.close()
    assert errors == []


@pytest.fixture(scope="session")
def corrector():
    """The same shipped model, loaded beside the server as a notebook would."""
    from model import Corrector

    return Corrector.load()
