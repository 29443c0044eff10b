"""The app as a visitor meets it: one server with the shipped model and one browser for all tests."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
PATIENCE = 60_000  # milliseconds; the first page waits for TensorFlow, on a busy machine for long

expect.set_options(timeout=PATIENCE)


def find_chromium(playwright) -> str:
    """$CHROMIUM, the system's, or the one of `playwright install chromium`. Without any, tests fail on CI."""
    for path in (os.environ.get("CHROMIUM"), "/usr/bin/chromium", playwright.chromium.executable_path):
        if path and Path(path).exists():
            return path
    message = "no Chromium: set CHROMIUM to its path, or run `python -m playwright install chromium`"
    return pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)


@pytest.fixture(scope="session")
def server():
    """The address of `streamlit run app.py`, started once."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", "--server.headless", "true"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until_healthy(process, f"{address}/_stcore/health")
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


def wait_until_healthy(process: subprocess.Popen, url: str) -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended at once with status {process.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"no answer from {url}")


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
    """Opens the app: ``open_page("?lang=en", width=390)``. The page remembers what it asked for outside."""
    pages = []

    def open_at(path: str = "", *, width: int = 1280, colour: str = "light") -> Page:
        page = contexts[colour].new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": 900})
        page.set_default_timeout(PATIENCE)
        page.requested_elsewhere = []
        page.on("request", lambda request: note_elsewhere(page, request.url, server))
        page.on("websocket", lambda socket: note_elsewhere(page, socket.url, server.replace("http", "ws")))
        page.goto(f"{server}/{path}")
        page.wait_for_selector("h1")
        settle(page)
        return page

    yield open_at
    for page in pages:
        page.close()


def note_elsewhere(page: Page, url: str, server: str) -> None:
    if not url.startswith((f"{server}/", "data:", "blob:")):
        page.requested_elsewhere.append(url)


def settle(page: Page) -> None:
    """Wait until the script has run to its end and the browser has drawn what it sent."""
    expect(page.locator('[data-testid="stApp"]')).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    page.wait_for_function(
        """() => [...document.querySelectorAll(".stPlotlyChart")]
          .every(chart => chart.querySelector(".main-svg"))"""
    )


def heatmap(page: Page, number: int = 0) -> np.ndarray:
    """The values (Q, K) that the page's figure holds in the browser."""
    page.wait_for_selector(".js-plotly-plot .main-svg")
    rows = page.evaluate(
        """number => {
          const figure = document.querySelectorAll(".js-plotly-plot")[number];
          return Array.from(figure._fullData[0].z, row => Array.from(row));
        }""",
        number,
    )
    return np.array(rows, dtype=np.float32)


def expect_heatmap(page: Page, expected: np.ndarray) -> None:
    """Wait until the figure holds ``expected`` (Q, K); fails with the difference where it never does."""
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline:
        shown = heatmap(page)
        if shown.shape == expected.shape and np.allclose(shown, expected, atol=1e-5):
            return
        page.wait_for_timeout(100)
    np.testing.assert_allclose(heatmap(page), expected, atol=1e-5)


@pytest.fixture(scope="session")
def corrector():
    """The same shipped model, loaded beside the server as a notebook would."""
    from model import Corrector

    return Corrector.load()
