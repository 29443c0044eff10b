"""What a visitor's test does with a page: wait for it, and read the numbers that its figures hold."""

import time

import numpy as np
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, WebSocketRoute, expect

PATIENCE = 120_000  # milliseconds; the first page waits for TensorFlow, on a busy machine for long

expect.set_options(timeout=PATIENCE)


def note_elsewhere(page: Page, url: str, server: str) -> None:
    if not url.startswith((f"{server}/", "data:", "blob:")):
        page.requested_elsewhere.append(url)


def settle(page: Page) -> None:
    """Wait until the model is ready, the script has run to its end and the browser has drawn what it sent."""
    expect(page.get_by_test_id("stProgress")).to_have_count(0)
    expect(page.locator('[data-testid="stApp"]')).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    page.wait_for_function(
        """() => [...document.querySelectorAll(".stPlotlyChart")]
          .every(chart => chart.querySelector(".main-svg"))"""
    )


class LateAnswers:
    """Stands between a page and the server; what the server says waits from ``hold`` to ``release``."""

    def __init__(self):
        self._held: list | None = None

    def stand_between(self, page: WebSocketRoute) -> None:
        self._page, server = page, page.connect_to_server()
        page.on_message(server.send)
        server.on_message(self._answer)

    def hold(self) -> None:
        self._held = []

    def release(self) -> None:
        held, self._held = self._held, None
        for message in held:
            self._page.send(message)

    def _answer(self, message: str | bytes) -> None:
        if self._held is None:
            self._page.send(message)
        else:
            self._held.append(message)


def serious_violations(page: Page) -> list[tuple[str, list[str]]]:
    """Of the rules for accessible pages: their names, and the elements that break them."""
    return [
        (violation["id"], [node["html"][:200] for node in violation["nodes"]])
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in ("serious", "critical")
    ]


def figure(name: str) -> str:
    """Where the figure ``name`` of the main page is, as a selector."""
    return f'[class*="st-key-{name}_"] .js-plotly-plot'


def heatmap(page: Page, place: int | str = 0) -> np.ndarray:
    """The values (Q, K) that a figure holds in the browser: the page's n-th, or one at a selector."""
    # Found and read at one moment: while a page changes, a figure may be gone again right after it was seen.
    rows = page.wait_for_function(
        """place => {
          const figure = typeof place === "string"
            ? document.querySelector(place) : document.querySelectorAll(".js-plotly-plot")[place];
          const data = figure?._fullData;
          return data?.length && Array.from(data[0].z, row => Array.from(row));
        }""",
        arg=place,
    )
    return np.array(rows.json_value(), dtype=np.float32)


def expect_heatmap(page: Page, expected: np.ndarray, place: int | str = figure("heatmap")) -> None:
    """Wait until a figure holds ``expected`` (Q, K); fails with the difference where it never does."""
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline:
        shown = heatmap(page, place)
        if shown.shape == expected.shape and np.allclose(shown, expected, atol=1e-5):
            return
        page.wait_for_timeout(100)
    np.testing.assert_allclose(heatmap(page, place), expected, atol=1e-5)
