"""What the first page of one more visitor costs: the bytes that a browser without a cache receives, the processor time of the page's
process, and the seconds until the picture is there.

    python benchmarks/new_visitors.py [FOLDER …] [--visitors 10] [--rounds 2]

FOLDER holds a version of the app, such as a git worktree; several are measured in turns, each round with a new server. The first two
visitors of a server are not counted. Chromium's slower networks are not used: a page stops loading there now and then, whatever the
server. Needs requirements-dev.txt, psutil and Chromium.
"""

import os
import statistics
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import click
import psutil
from keys_in_turns import started
from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(ROOT := Path(__file__).parents[1]))

from tests.browser.chromium import launched

UNCOUNTED = 2
REST = 5.0  # seconds after the start of a server, and after the visitors who are not counted
DRAWN = ".heatmaplayer image"


class Visit(NamedTuple):
    bytes: int
    milliseconds: float  # of the page's process
    seconds: float


def visit(browser: Browser, server: psutil.Process, address: str) -> Visit:
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page = context.new_page()
    inspector = context.new_cdp_session(page)
    received = []
    inspector.on("Network.dataReceived", lambda event: received.append(event["encodedDataLength"]))
    inspector.on(  # base64: four characters for three bytes
        "Network.webSocketFrameReceived",
        lambda event: received.append(len(event["response"]["payloadData"]) * 3 // 4),
    )
    inspector.send("Network.enable")
    used, begun = server.cpu_times(), time.perf_counter()
    page.goto(address)
    page.wait_for_selector(DRAWN, state="attached", timeout=60_000)
    seconds = time.perf_counter() - begun
    page.wait_for_timeout(500)  # what comes behind the picture
    context.close()
    return Visit(sum(received), 1000 * (sum(server.cpu_times()[:2]) - sum(used[:2])), seconds)


def visits(browser: Browser, folder: Path, visitors: int) -> list[Visit]:
    with ExitStack() as stack:
        process, address = started(folder, stack)
        server = psutil.Process(process.pid)
        time.sleep(REST)
        for _ in range(UNCOUNTED):
            visit(browser, server, address)
        time.sleep(REST)
        return [visit(browser, server, address) for _ in range(visitors)]


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--visitors", type=click.IntRange(1), default=10, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=2, show_default=True)
def main(folders: tuple[Path, ...], visitors: int, rounds: int) -> None:
    """Print the medians of each folder and round."""
    click.echo(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    with sync_playwright() as playwright:
        browser = launched(playwright)
        for _ in range(rounds):
            for folder in folders or (ROOT,):
                each = visits(browser, folder, visitors)
                size, used, seconds = map(statistics.median, zip(*each, strict=True))
                click.echo(
                    f"{folder.name}: {size / 1e6:.2f} MB, {used:.0f} ms of the page's process, picture after {seconds:.2f} s"
                )
        browser.close()


if __name__ == "__main__":
    main()
