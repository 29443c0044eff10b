"""Hostile texts in the network of the browser, compared with Python; and the memory of its page over many sentences.

    python benchmarks/browser_soak.py [--hostile 2000] [--characters 200] [--sentences 1000]

Builds the site, serves it from this machine and visits it in headless Chromium. Hostile texts are asked of its worker and of Python without
the analyser, and both have to write the same; the page must complain of nothing. Sentences are typed one after the other, with all
pictures, on a host that isolates its pages, while the browser tells what page and worker hold and the private memory of their process is
read. Ends with 1 where less than 99% of the texts are the same.
"""

import random
import sys
import tempfile
import time
from pathlib import Path

import click
from playwright.sync_api import Error, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.browser_site import held_megabytes, private_megabytes, tidied
from benchmarks.hostile_texts import hostile_texts
from benchmarks.made_sentences import pair_of
from deploy.site import build
from deploy.site.stored import light_corrector
from model.stored.folder import DEFAULT_MODEL
from tests.browser.chromium import launched
from tests.browser.site_pages import answers, is_open, shows, static_host, visiting

TOGETHER = 50  # texts of one message to the page
LEAST = 0.99  # share of texts that have to be the same
READ = 100  # sentences between two readings of the memory


def as_browsers_read(text: str, characters: int) -> str:
    """Two halves of a surrogate pair side by side are one character."""
    return text[:characters].encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def differing(page: Page, texts: list[str]) -> list[str]:
    """The texts that browser and Python answer in another way."""
    light, found = light_corrector(DEFAULT_MODEL), []
    for start in range(0, len(texts), TOGETHER):
        some = texts[start : start + TOGETHER]
        pairs = zip(some, written(page, some), light.correct_batch(some), strict=True)
        found += [text for text, one, other in pairs if one != other.text]
        click.echo(f"  {start + len(some):,} texts, {len(found)} differ", err=True)
    return found


def written(page: Page, texts: list[str]) -> list[str | None]:
    """What the browser makes of texts; None where it fails."""
    try:
        return [each["text"] for each in answers(page, texts)]
    except Error as error:
        if len(texts) == 1:
            click.echo(f"  {texts[0]!r}: {error}", err=True)
            return [None]
    return [one for text in texts for one in written(page, [text])]


def megabytes(page: Page) -> tuple[float, float]:
    """What page and worker hold, and the private memory of their process, without garbage and kept pictures."""
    tidied(page)
    return held_megabytes(page), private_megabytes(page)


def memory(page: Page, sentences: int) -> list[tuple[float, float]]:
    """Both before the first sentence, and after each READ of them."""
    rng, sizes = random.Random(0), [megabytes(page)]
    for number in range(1, sentences + 1):
        text = pair_of(rng, 20 + number % 40).wrong
        page.evaluate("(text) => window.site.change({ ...window.site.fresh(), text }, true)", text)
        shows(page, text)
        if number % READ == 0:
            sizes.append(megabytes(page))
            held, private = sizes[-1]
            click.echo(f"  {number:,} sentences, {held:.0f} MB held, {private:.0f} MB private", err=True)
    return sizes


@click.command()
@click.option("--hostile", default=2000, show_default=True, help="Hostile texts.")
@click.option(
    "--characters", default=200, show_default=True, help="Of a hostile text at most; a few are endless."
)
@click.option("--sentences", default=1000, show_default=True, help="Sentences over which memory is read.")
def main(hostile: int, characters: int, sentences: int) -> None:
    """Print what was found."""
    texts = [as_browsers_read(text, characters) for text in hostile_texts(4, hostile)]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        build.write_folder(build.make(), Path(folder))
        browser = launched(playwright)
        with static_host(Path(folder)) as address, visiting(browser, address) as page:
            is_open(page)
            started = time.monotonic()
            wrong = differing(page, texts) if texts else []
            click.echo(
                f"{len(texts):,} hostile texts, {len(wrong)} answered in another way than Python, ", nl=False
            )
            click.echo(f"{len(page.complaints)} complaints of the page, {time.monotonic() - started:.0f} s")
            for text in wrong[:10]:
                click.echo(f"  {text[:80]!r}")
        if sentences:
            with static_host(Path(folder), isolated=True) as address, visiting(browser, address) as page:
                is_open(page)
                told = " ".join(f"{held:.0f}/{private:.0f}" for held, private in memory(page, sentences))
                click.echo(f"MB held/private before, and after each {READ} sentences: {told}")
        browser.close()
    if texts and len(wrong) > (1 - LEAST) * len(texts):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
