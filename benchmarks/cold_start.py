"""Seconds from `streamlit run app.py` to the first words and the first attention map in a browser.

    python benchmarks/cold_start.py [--runs 3]

Needs requirements-dev.txt and Chromium. Each run starts a new server and a new browser profile;
the operating system's file cache is warm from the second run on.
"""

import os
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import click
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[1]
PORT = 8765
PAGE = f"http://127.0.0.1:{PORT}/"
MARKS = {
    "title on the page": "h1",
    "corrected sentence": ".corrected",
    "attention map": ".js-plotly-plot .main-svg",
}


def wait_for_server() -> None:
    while True:
        try:
            with urllib.request.urlopen(f"{PAGE}_stcore/health", timeout=1):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.05)


def measure(browser: Browser) -> dict[str, float]:
    """Seconds after the start of the server's process at which each mark was first seen."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(PORT)]
    started = time.perf_counter()
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_server()
        seen = {"server answers": time.perf_counter() - started}
        page = browser.new_page()
        page.goto(PAGE)
        for name, selector in MARKS.items():
            page.wait_for_selector(selector, timeout=180_000)
            seen[name] = time.perf_counter() - started
        page.close()
        return seen
    finally:
        server.terminate()
        server.wait()


@click.command()
@click.option("--runs", default=3, show_default=True)
def main(runs):
    """Print the median, lowest and highest seconds of each mark."""
    chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=sandbox)
        results = [measure(browser) for _ in range(runs)]
        browser.close()
    click.echo(f"{os.cpu_count()} processors, {runs} runs, seconds after the start of the server")
    click.echo(f"{'':20} median  lowest highest")
    for name in results[0]:
        values = [result[name] for result in results]
        click.echo(f"{name:20} {statistics.median(values):6.1f} {min(values):7.1f} {max(values):7.1f}")


if __name__ == "__main__":
    main()
