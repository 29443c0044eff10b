"""Seconds from the server's first answer to the first example's picture in a browser, and to the answer to a
sentence that is typed as soon as there is somewhere to type it; and, of a server whose first visitor opens the laboratory, to all
pictures of its first experiment.

    python benchmarks/cold_start.py [--runs 3]

Needs requirements-dev.txt and Chromium. Each run starts a new server and a new browser profile;
the operating system's file cache is warm from the second run on.
"""

import os
import statistics
import time

import click
from first_use import DRAWN
from playwright.sync_api import Browser, sync_playwright
from sentence_lengths import running_app

PORT = 8765
TYPED = "오늘은 날씨가 조아서 가치 산책을 했따."
KEPT = "오늘은 날씨가"  # of it, by the correction
PATIENCE = 90_000  # milliseconds
PICTURES = 3  # of the first experiment: all heads, what each is worth, and that against how much it looks
MARKS = {
    "title on the page": "h1",
    "corrected example": ".corrected",
    "its attention": ".st-key-heatmap .js-plotly-plot .main-svg",
}


def measure(browser: Browser) -> dict[str, float]:
    """Seconds at which each mark was first seen: after the server's first answer, which itself is counted
    from the start of its process."""
    started = time.perf_counter()
    with running_app(PORT) as address:
        answered = time.perf_counter()
        seen = {"(server answers)": answered - started}
        page = browser.new_page()
        page.goto(address)
        for name, selector in MARKS.items():
            page.wait_for_selector(selector, timeout=PATIENCE)
            seen[name] = time.perf_counter() - answered
        page.locator("textarea").first.fill(TYPED)
        page.locator(".corrected", has_text=KEPT).wait_for(timeout=PATIENCE)
        seen["typed sentence corrected"] = time.perf_counter() - answered
        page.wait_for_function(
            """tokens => document.querySelector('.st-key-heatmap .js-plotly-plot')
              ?._fullData?.[0]?.z?.[0]?.length === tokens""",
            arg=len(TYPED) + 1,
            timeout=PATIENCE,
        )
        seen["its attention too"] = time.perf_counter() - answered
        page.close()
        return seen


def laboratory(browser: Browser) -> float:
    """Seconds until a new server has answered what is left without each head, for a visitor who opens the laboratory at once."""
    with running_app(PORT) as address:
        answered = time.perf_counter()
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.goto(f"{address}laboratory")
        page.locator(".plot[data-drawn]").nth(PICTURES - 1).wait_for(state="attached", timeout=PATIENCE)
        page.wait_for_function(DRAWN, arg="", timeout=PATIENCE)
        seconds = time.perf_counter() - answered
        page.close()
        return seconds


@click.command()
@click.option("--runs", default=3, show_default=True)
def main(runs):
    """Print the median, lowest and highest seconds of each mark."""
    chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=sandbox)
        results = [measure(browser) | {"laboratory's first answer": laboratory(browser)} for _ in range(runs)]
        browser.close()
    click.echo(f"{os.cpu_count()} processors, {runs} runs, seconds after the server's first answer")
    click.echo(f"{'':26} median  lowest highest")
    for name in results[0]:
        values = [result[name] for result in results]
        click.echo(f"{name:26} {statistics.median(values):6.1f} {min(values):7.1f} {max(values):7.1f}")


if __name__ == "__main__":
    main()
