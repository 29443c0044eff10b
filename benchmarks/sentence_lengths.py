"""Bytes sent and seconds to the picture for sentences of 10 to 512 tokens, in a real browser, view by view.

    python benchmarks/sentence_lengths.py [--rounds 3]

Needs requirements-dev.txt and Chromium. The server and its model are warm: each sentence is typed once
before anything is counted, and every counted sentence is a new one of the same length. The clock runs from
the last key to the moment when the browser has drawn what the server sent, the typing pause included.
"""

import os
import random
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.browser.chromium import launched

ROOT = Path(__file__).parents[1]
LENGTHS = (10, 40, 120, 512)
VIEWS = ("heatmap", "lines", "steps", "numbers")
WORDS = "우리는 어제 학교에서 머글 것을 차잣고 고양이가 조용히 안자 있엇다 친구와 함께 도서관에 가서 책을 일거따".split()
READY = """text => {
  const app = document.querySelector('[data-testid="stApp"]');
  const line = document.querySelector(".corrected")?.cloneNode(true);
  line?.querySelectorAll("ins, .offer, .sentence").forEach(part => part.remove());
  const typed = line?.textContent ?? "";
  const drawn = [...document.querySelectorAll(".plot")].every(root => root.dataset.drawn === String(root.plot?.turn));
  return typed === text && drawn && app.dataset.testScriptState === "notRunning"
    && !document.querySelector('[data-testid="stSkeleton"], [data-testid="stSpinner"]');
}"""


@contextmanager
def running_app(port: int) -> Iterator[str]:
    """The address of the app, whose server runs as long as the context. Python keeps its bytecode there, as on a machine where the app is
    installed, even if a variable of this process forbids it: else each start compiles 450 modules."""
    address = f"http://127.0.0.1:{port}/"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    server = subprocess.Popen(
        command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for_server(address)
        yield address
    finally:
        server.terminate()
        server.wait()


def wait_for_server(address: str) -> None:
    while True:
        try:
            with urllib.request.urlopen(f"{address}_stcore/health", timeout=1):
                return
        except OSError:
            time.sleep(0.05)


def sentence(tokens: int, rng: random.Random) -> str:
    """A text of ``tokens`` - 1 characters: the end mark is a token, too."""
    text = ""
    while len(text) < tokens:
        text += rng.choice(WORDS) + " "
    return text[: tokens - 1].rstrip().ljust(tokens - 1, "요")


def measure(page: Page, received: list[int], text: str) -> tuple[float, int]:
    """(seconds, bytes) from typing ``text`` to its picture."""
    received.clear()
    started = time.perf_counter()
    page.get_by_label("고칠 글").fill(text)
    page.wait_for_function(READY, arg=text, timeout=120_000)
    return time.perf_counter() - started, sum(received)


@click.command()
@click.option("--rounds", default=3, show_default=True)
@click.option("--port", default=8765, show_default=True)
def main(rounds, port):
    """Print for each length and view the median seconds and kilobytes."""
    rng = random.Random(0)
    click.echo(
        f"{os.cpu_count()} processors, median of {rounds}; kB as sent, before the connection's compression"
    )
    click.echo(f"{'tokens':>6}" + "".join(f"{view + ' s':>11}{'kB':>7}" for view in VIEWS))
    with running_app(port) as address, sync_playwright() as playwright:
        browser = launched(playwright)
        for length in LENGTHS:
            line = f"{length:6}"
            for view in VIEWS:
                page, received = browser.new_page(), []
                page.on(
                    "websocket", lambda s, r=received: s.on("framereceived", lambda data: r.append(len(data)))
                )
                page.goto(f"{address}?view={view}")
                page.wait_for_selector(".corrected", timeout=180_000)
                measure(page, received, sentence(length, rng))
                results = [measure(page, received, sentence(length, rng)) for _ in range(rounds)]
                seconds, size = (statistics.median(each) for each in zip(*results, strict=True))
                line += f"{seconds:11.2f}{size / 1000:7.0f}"
                page.close()
            click.echo(line)
        browser.close()


if __name__ == "__main__":
    main()
