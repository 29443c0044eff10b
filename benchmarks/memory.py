"""Benchmark of resident memory: of a process that corrects, or of the app's server.

Of a process: at rest, after short and long sentences, and over thousands of them.

    python benchmarks/memory.py [--corrections 5000]
    python benchmarks/memory.py --minutes 60

Needs psutil besides requirements.txt. Every sentence is new and is corrected and traced as the app does it.
With ``--minutes`` it is the app's server that is watched instead, while a real browser types into its main
page, a key every half second and a new sentence after each full stop; that needs requirements-dev.txt and
Chromium, too. The slope is the straight line of least squares through the second half of the measurements: in
the first one, lengths that were never met before are compiled. MB are 10^6 bytes.
"""

import ctypes
import os
import platform
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.sentences import SHORTEST, pair_of
from benchmarks.server import running_app

LENGTHS = (40, 512)
KEY = 0.5  # seconds between keys
EVERY = 500  # corrections between two measurements


def megabytes(process: psutil.Process) -> float:
    """Resident memory in MB (a million bytes)."""
    return process.memory_info().rss / 1e6


def slope(measured: list[tuple[float, float]]) -> float:
    """MB for each unit of the first numbers, over the second half of ``measured``.

    >>> round(slope([(0, 2.0), (1, 9.0), (2, 9.5), (3, 10.0)]), 6)
    0.5
    """
    counts, sizes = zip(*measured[len(measured) // 2 :], strict=True)
    return float(np.polyfit(counts, sizes, 1)[0])


def watch_corrections(count: int) -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    process, rng = psutil.Process(), random.Random(0)
    click.echo(f"before the model is loaded: {megabytes(process):.0f} MB")
    from model import Corrector

    corrector = Corrector.load()

    def correct(tokens: int) -> None:
        sentences = corrector.correct(pair_of(rng, tokens).wrong).sentences
        assert all(sentence.trace.attention("encoder_attention").size for sentence in sentences)

    click.echo(f"model loaded: {megabytes(process):.0f} MB")
    corrector.warm_up()
    click.echo(f"ready: {megabytes(process):.0f} MB")
    for tokens in LENGTHS:
        for _ in range(20):
            correct(tokens)
        click.echo(
            f"after 20 sentences of {tokens} tokens, corrected and traced: {megabytes(process):.0f} MB"
        )
    measured = []
    for number in range(1, count + 1):
        correct(rng.randint(SHORTEST, 128) if number % 50 else 512)
        if number % EVERY == 0:
            measured.append((number / 1000, megabytes(process)))
            click.echo(f"{number:6} corrections of {SHORTEST} to 512 tokens: {measured[-1][1]:.0f} MB")
    if len(measured) > 3:
        click.echo(f"slope: {slope(measured):+.2f} MB in a thousand corrections")
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)
        click.echo(f"once glibc has given back what was freed: {megabytes(process):.0f} MB")


def typed_texts(rng: random.Random) -> Iterator[str]:
    """The text of the box after each key, sentence after sentence."""
    while True:
        sentence = pair_of(rng, rng.randint(20, 60)).wrong
        yield from (sentence[:end] for end in range(1, len(sentence) + 1))


def watch_typing(minutes: float) -> None:
    from playwright.sync_api import sync_playwright

    from tests.browser.chromium import launched

    with running_app() as address, sync_playwright() as playwright:
        server = next(child for child in psutil.Process().children() if "streamlit" in child.cmdline())
        page = launched(playwright).new_page()
        page.goto(address)
        page.wait_for_selector(".js-plotly-plot .main-svg", timeout=180_000)
        box, started = page.get_by_label("고칠 글"), time.monotonic()
        click.echo(f"first picture: {megabytes(server):.0f} MB")
        measured: list[tuple[float, float]] = []
        every = minutes / 20
        for keys, text in enumerate(typed_texts(random.Random(0)), 1):
            box.fill(text)
            page.wait_for_timeout(1000 * KEY)
            passed = (time.monotonic() - started) / 60
            if passed >= (len(measured) + 1) * every:
                measured.append((passed / 60, megabytes(server)))
                click.echo(f"{passed:6.1f} minutes, {keys} keys: {measured[-1][1]:.0f} MB")
            if passed >= minutes:
                break
        click.echo(f"slope: {slope(measured):+.1f} MB an hour")


@click.command()
@click.option("--corrections", default=5000, show_default=True)
@click.option("--minutes", type=float, help="Watch a typing session of so many minutes instead.")
def main(corrections: int, minutes: float | None) -> None:
    """Print resident memory and its slope."""
    if minutes:
        watch_typing(minutes)
    else:
        watch_corrections(corrections)


if __name__ == "__main__":
    main()
