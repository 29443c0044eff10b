"""Benchmark of a cold start in a browser: time to first picture, correction, experiment.

All are counted from the server's first answer: to the first example's picture; to the answer to a sentence
that is typed as soon as the page has a text area; and, of a server whose first visitor opens the laboratory,
to all pictures of its first experiment.

    python benchmarks/cold_start.py [--runs 3]

Needs requirements-dev.txt and Chromium. Each run starts a new server, and before it a browser with a new
profile (``server.bare_page``); the operating system's file cache is warm from the second run on.
"""

import os
import statistics
import sys
import time
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.server import BarePage, bare_page, running_app

TYPED = "오늘은 날씨가 조아서 가치 산책을 했따."
KEPT = "오늘은 날씨가"  # of it, by the correction
# Components draw in shadow trees, into which a selector does not look.
PAGE = """
window.find = (selector, tree = document) => tree.querySelector(selector)
  ?? [...tree.querySelectorAll("*")].reduce(
    (found, { shadowRoot }) => found ?? (shadowRoot && find(selector, shadowRoot)), null);
window.until = async (holds) => { while (!holds()) await new Promise((done) => setTimeout(done, 5)); };
window.heatmap = () => document.querySelector(".st-key-heatmap .js-plotly-plot");
window.rests = () => document.querySelector('[data-testid="stApp"]').dataset.testScriptState === "notRunning"
  && !["stSkeleton", "stSpinner", "stProgress"].some((id) => document.querySelector(`[data-testid="${id}"]`));
window.drawn = () => [...document.querySelectorAll(".plot")].filter(
  ({ dataset, plot }) => dataset.drawn === String(plot?.turn));
"""
TYPE = (
    """Object.assign(find("textarea"), { value: %r }).dispatchEvent(new Event("input", { bubbles: true }))"""
)
# Conditions that end each timed interval, one after the other.
MARKS = {
    "title on the page": "find('h1')",
    "corrected example": "find('.corrected')",
    "its attention": "find('.st-key-heatmap .js-plotly-plot .main-svg')",
    "typed sentence corrected": f"find('.corrected')?.textContent.includes({KEPT!r})",
    "its attention too": f"heatmap()?._fullData?.[0]?.z?.[0]?.length === {len(TYPED) + 1}",
}
# The first experiment has three pictures: all heads, the effect of each, and that against its attention.
LABORATORY = "drawn().length >= 3 && drawn().length === document.querySelectorAll('.plot').length && rests()"


def wait(page: BarePage, holds: str) -> float:
    """Wait until the JavaScript expression ``holds`` is true; returns the clock's time then, in seconds."""
    page.evaluate(f"until(() => {holds})")
    return time.perf_counter()


def measure(page: BarePage) -> dict[str, float]:
    """Time the marks of a first visit to a new server.

    Returns:
        seconds by mark after the server's first answer; those of the answer, from the start of its process.
    """
    started = time.perf_counter()
    with running_app() as address:
        answered = time.perf_counter()
        seen = {"(server answers)": answered - started}
        page.goto(address)
        page.evaluate(PAGE)
        for name, holds in MARKS.items():
            if name.startswith("typed"):
                page.evaluate(TYPE % TYPED)
            seen[name] = wait(page, holds) - answered
        return seen


def laboratory(page: BarePage) -> float:
    """Time a new server whose first visitor opens the laboratory at once.

    Returns:
        seconds from its first answer until the effects of each head's ablation are drawn.
    """
    with running_app() as address:
        answered = time.perf_counter()
        page.goto(f"{address}laboratory")
        page.evaluate(PAGE)
        return wait(page, LABORATORY) - answered


def run(chromium: str) -> dict[str, float]:
    """The seconds of all marks, and of the laboratory on a second new server."""
    with bare_page(chromium) as page:
        seen = measure(page)
    with bare_page(chromium) as page:
        return seen | {"laboratory's first answer": laboratory(page)}


@click.command()
@click.option("--runs", default=3, show_default=True)
def main(runs: int) -> None:
    """Print the median, lowest and highest seconds of each mark."""
    results = [run(os.environ.get("CHROMIUM", "/usr/bin/chromium")) for _ in range(runs)]
    click.echo(f"{os.cpu_count()} processors, {runs} runs, seconds after the server's first answer")
    click.echo(f"{'':26} median  lowest highest")
    for name in results[0]:
        values = [result[name] for result in results]
        click.echo(f"{name:26} {statistics.median(values):6.2f} {min(values):7.2f} {max(values):7.2f}")


if __name__ == "__main__":
    main()
