"""What a visitor's test does with a page: wait for it, and read the numbers that its figures hold."""

import time

import numpy as np
from playwright.sync_api import Page, expect

PATIENCE = 120_000  # milliseconds; the first page waits for TensorFlow, on a busy machine for long

expect.set_options(timeout=PATIENCE)


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
