"""Benchmark of the static site in a browser: time to first pictures and per key, memory.

    python benchmarks/browser_site.py [--keys 20] [--slower 4]

Builds the site, serves it from this machine, and visits it in headless Chromium: a first visit with nothing
cached, a second visit, typing with pauses; and typing again on a processor made slower. Memory is read on a
host that isolates its pages, which browsers ask for; the visits are timed on a plain one, since an isolated
page gets a new process, and without Playwright (``server.bare_page``). Prints a Markdown table.
"""

import random
import statistics
import sys
import tempfile
import time
from contextlib import AbstractContextManager
from pathlib import Path

import click
from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.sentences import pair_of
from benchmarks.server import BarePage, bare_page
from deploy.site import build
from tests.browser.chromium import find_chromium, launched
from tests.browser.site_pages import is_open, static_host, visiting

PAUSE = 200  # milliseconds without a key after which the page looks at the text (ui/components/live_text.js)
AWAY = 5  # seconds between two visits: a page that was left frees its memory, no work of the next visit
TOKENS = 40
Row = tuple[str, str]  # the name of a measure, and its value
# Types a text at once; the milliseconds until its correction is drawn, and until all pictures are.
TYPE = """async (text) => {
  const area = document.getElementById("live").shadowRoot.querySelector("textarea");
  const until = async (holds) => { while (!holds()) await new Promise((done) => setTimeout(done, 1)); };
  const isDrawn = (root) => root.closest("[hidden]") || root.dataset.drawn === String(root.plot.turn);
  Object.assign(area, { value: text }).dispatchEvent(new Event("input"));
  const start = performance.now();
  await until(() => document.documentElement.dataset.shown === text);
  const shown = performance.now();
  await until(() => [...document.querySelectorAll(".explore .plot")].every(isDrawn));
  return [shown - start, performance.now() - start];
}"""

# Types a text, or nothing, and waits until it, or the stored example, is drawn with its heatmap.
SHOWS = """async (text) => {
  const until = async (holds) => { while (!holds()) await new Promise((done) => setTimeout(done, 5)); };
  await until(() => window.site?.places);
  const area = document.getElementById("live").shadowRoot.querySelector("textarea");
  if (text) Object.assign(area, { value: text }).dispatchEvent(new Event("input"));
  const isDrawn = ({ plot, dataset }) => plot && dataset.drawn === String(plot.turn);
  await until(() => document.documentElement.dataset.shown === (text ?? window.site.stored[0].typed));
  await until(() => [...document.querySelectorAll(".heatmap .plot")].some(isDrawn));
}"""


def sentences(count: int, seed: int) -> list[str]:
    """Texts of TOKENS tokens with errors."""
    rng = random.Random(seed)
    return [pair_of(rng, TOKENS).wrong for _ in range(count)]


def first_answers(page: BarePage | Page, address: str) -> tuple[float, float]:
    """Time the first two pictures after entering the address.

    Returns:
        seconds until the stored example is drawn, and until a typed sentence is.
    """
    start = time.perf_counter()
    page.goto(address)
    page.evaluate(f"({SHOWS})()")
    stored = time.perf_counter() - start
    page.evaluate(f'({SHOWS})("내일 도서관에 가치 가자.")')
    return stored, time.perf_counter() - start


def typed(page: Page, texts: list[str]) -> list[list[float]]:
    """[milliseconds to the text], [to the pictures], both after the pause."""
    found = []
    for text in texts:
        found.append([taken - PAUSE for taken in page.evaluate(TYPE, text)])
        page.wait_for_timeout(300)
    return [list(side) for side in zip(*found, strict=True)]


def private_megabytes(page: Page) -> float:
    """Private memory of the page's process in MB, the worker and the network in it included."""
    browser = page.context.browser
    assert browser is not None, "the page is one of a browser that was launched"
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    sizes = [_private(each["id"]) for each in processes if each["type"] == "renderer"]
    return max(sizes) / 1000


def _private(process: int) -> int:
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))


def tidied(page: Page) -> None:
    """Collect garbage, and have Chromium give back decoded pictures, which it keeps until memory grows short:
    a megabyte a sentence.
    """
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.send("Memory.simulatePressureNotification", {"level": "critical"})
    page.wait_for_timeout(1000)


def held_megabytes(page: Page) -> float:
    """Memory of page and worker in MB, WebAssembly included, as the browser reports it.

    Needs a host with ``isolated``.
    """
    return page.evaluate("async () => (await performance.measureUserAgentSpecificMemory()).bytes") / 1e6


def told(values: list[float]) -> str:
    """The median and, in brackets, the 95th percentile.

    >>> told([10.0, 20.0, 30.0, 90.0, 100.0])
    '30 (90)'
    """
    return f"{statistics.median(values):.0f} ({sorted(values)[int(0.95 * (len(values) - 1))]:.0f})"


def visit(browser: Browser, address: str) -> AbstractContextManager[Page]:
    """A page of a browser that has cached nothing."""
    return visiting(browser, address, width=1366, height=768)


def seconds(chromium: str, address: str) -> list[Row]:
    """Rows in seconds: the first visit, and the second one from the browser's cache."""
    with bare_page(chromium) as page:
        first = first_answers(page, address)
        page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        page.goto("about:blank")
        time.sleep(AWAY)
        second = first_answers(page, address)
    return [
        ("first visit: stored example, own sentence, s", "{:.2f}, {:.2f}".format(*first)),
        ("second visit, the same", "{:.2f}, {:.2f}".format(*second)),
    ]


def milliseconds(browser: Browser, address: str, keys: int, slower: int) -> list[Row]:
    """Rows in milliseconds after the typing pause, at full speed and with a page ``slower`` times slower."""
    with visit(browser, address) as page:
        is_open(page)
        typed(page, sentences(3, seed=1))
        usual = typed(page, sentences(keys, seed=2))
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slower})
        slow = typed(page, sentences(keys, seed=3))
    return [
        ("text after the pause, ms", told(usual[0])),
        ("pictures after the pause, ms", told(usual[1])),
        (f"page {slower} times slower: text, ms", told(slow[0])),
        (f"page {slower} times slower: pictures, ms", told(slow[1])),
    ]


def megabytes(browser: Browser, address: str, keys: int) -> list[Row]:
    """Rows in MB (a million bytes), after ``keys`` typed texts."""
    with visit(browser, address) as page:
        is_open(page)
        typed(page, sentences(keys, seed=2))
        held, before = held_megabytes(page), private_megabytes(page)
        tidied(page)
        after = private_megabytes(page)
    private = "private memory of the process; without garbage and kept pictures, MB"
    return [("memory that page and worker hold, MB", f"{held:.0f}"), (private, f"{before:.0f}; {after:.0f}")]


@click.command()
@click.option("--keys", default=20, show_default=True, help="Texts that are typed.")
@click.option("--slower", default=4, show_default=True, help="How many times slower the slow processor is.")
def main(keys: int, slower: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        build.write_folder(build.make(), Path(folder))
        chromium = find_chromium(playwright)
        with static_host(Path(folder)) as address:
            rows = seconds(chromium, address)
        browser = launched(playwright)
        with static_host(Path(folder)) as address:
            rows += milliseconds(browser, address, keys, slower)
        with static_host(Path(folder), isolated=True) as address:
            rows += megabytes(browser, address, keys)
        browser.close()
    click.echo("| | measured |\n|---|---|")
    for name, value in rows:
        click.echo(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
