"""Seconds from the press that opens a view, or a page, for the first time on a server until its picture is drawn.

    python benchmarks/first_use.py [--runs 3] [VIEW …]

Needs requirements-dev.txt and Chromium. Each measurement starts a server of its own: a visitor opens the main page, looks at the
corrected example for some seconds, then presses the tab or chooses the page, once. Printed beside it is the same press a second time, by
another visitor with another sentence. VIEW: names as in the address, such as numbers or replace, or of a page, such as growing.
"""

import os
import statistics
import sys
import time
from pathlib import Path
from urllib.parse import urlencode

import click
from playwright.sync_api import Browser, Page, sync_playwright
from sentence_lengths import running_app

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.browser.chromium import launched
from ui.shell.header import PAGES as MENU

PORT = 8766
PATIENCE = 90_000  # milliseconds
LOOKING = 4.0  # seconds before the press: the server is then done with what it does after its start
SENTENCES = ("친구와 가치 밥을 머거요.", "비를 맞으며 거러가요.")
TABS = ("lines", "steps", "edits", "wrote", "decided", "received", "numbers", "predict")
EXPERIMENTS = (
    *("without", "sources", "replace", "fork", "twins"),
    *("patched", "circuit", "why", "receipts"),
)
PAGES = ("calculation", "growing", "heads", "masks", "positions", "network", "model", "table", "classroom")
DRAWN = """before => {
  const app = document.querySelector('[data-testid="stApp"]');
  const told = (document.querySelector(".st-key-told") ?? document.querySelector("h1"))?.innerText;
  const drawn = [...document.querySelectorAll(".plot")].every(root => root.dataset.drawn === String(root.plot?.turn));
  if (before === null) return location.pathname + told;
  return app.dataset.testScriptState === "notRunning" && drawn && location.pathname + told !== before
    && !document.querySelector('[data-testid="stSkeleton"], [data-testid="stSpinner"], [data-testid="stProgress"]');
}"""


def press(page: Page, name: str) -> float:
    """Open the view or the page ``name``; the seconds until all that it shows is drawn."""
    before = page.evaluate(DRAWN, None)
    if name not in TABS:
        page.locator(".st-key-pages button").first.click()
        page.get_by_role("menuitem").first.wait_for()
    begun = time.perf_counter()
    if name in TABS:
        page.locator(".st-key-control_view").get_by_role("radio").nth(1 + TABS.index(name)).click()
    else:
        place = "laboratory" if name in EXPERIMENTS else name
        page.get_by_role("menuitem").nth(MENU.index(place)).click()
    page.wait_for_function(DRAWN, arg=before, timeout=PATIENCE)
    return time.perf_counter() - begun


def visit(browser: Browser, address: str, name: str, sentence: str) -> float:
    """A new visitor opens the main page, then ``name``."""
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.add_init_script("localStorage.setItem('attentionWelcomed', '1')")
    asked = {"sentence": sentence, "layer": "3", "head": "1"}
    if name in EXPERIMENTS:
        asked["experiment"] = name
    page.goto(f"{address}?{urlencode(asked)}")
    page.wait_for_selector(".st-key-heatmap .js-plotly-plot .main-svg", timeout=PATIENCE)
    page.wait_for_function(DRAWN, arg="", timeout=PATIENCE)
    page.wait_for_timeout(LOOKING * 1000)
    seconds = press(page, name)
    page.close()
    return seconds


@click.command()
@click.argument("views", nargs=-1)
@click.option("--runs", default=3, show_default=True)
def main(views, runs):
    """Print the median and the highest seconds of each view."""
    click.echo(f"{os.cpu_count()} processors, {runs} runs, load {os.getloadavg()[0]:.1f}; seconds")
    click.echo(f"{'':14} first (highest)   again")
    with sync_playwright() as playwright:
        browser = launched(playwright)
        for name in views or (*TABS, *EXPERIMENTS, *PAGES):
            first, again = [], []
            for _ in range(runs):
                with running_app(PORT) as address:
                    first.append(visit(browser, address, name, SENTENCES[0]))
                    again.append(visit(browser, address, name, SENTENCES[1]))
            click.echo(
                f"{name:14} {statistics.median(first):5.2f} ({max(first):5.2f}) {statistics.median(again):8.2f}"
            )
        browser.close()


if __name__ == "__main__":
    main()
