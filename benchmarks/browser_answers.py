"""Does the network in the browser answer as Python does? Texts, changes and attention, over the development sets.

    python benchmarks/browser_answers.py [--sentences 3000] [--seed 0]

Builds the site, serves it from this machine, visits it in headless Chromium, and asks it and Python for the same sentences, both without the
morphological analyser: a sample of the wrong sides of ``benchmarks/``. Counts the sentences whose text is the same, the changes that the
browser made and Python did not propose, and how far attention is apart. Ends with 1 where the site promises more.
"""

import random
import sys
import tempfile
from pathlib import Path

import click
import numpy as np
from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.browser_cost import rows_of_sets
from deploy.site import build
from deploy.site.stored import light_corrector
from model import Correction
from model.stored.folder import DEFAULT_MODEL
from tests.browser.chromium import launched
from tests.browser.site_pages import answers, is_open, static_host, visiting

TOGETHER = 50  # sentences of one message to the page
WITH_ATTENTION = 5  # of those, whose attention is compared
LEAST = 0.99  # share of sentences whose text has to be the same
CLOSE = 1e-4  # of attention


def refused(found: dict, wanted: Correction) -> int:
    """Changes that the browser made and Python did not even propose."""
    pairs = zip(found["sentences"], wanted.sentences, strict=True)
    return sum(
        (each["sourceStart"], each["sourceEnd"], each["right"])
        not in {(change.source_start, change.source_end, change.right) for change in other.proposed}
        for one, other in pairs
        for each in one["changes"]
    )


def apart(page: Page, texts: list[str], wanted: list[Correction]) -> float:
    """The largest difference between two weights of attention of the same sentence."""
    largest = 0.0
    for one, other in zip(answers(page, texts), wanted, strict=True):
        if one["text"] != other.text or not one["trace"]:
            continue
        trace = other.sentences[one["place"]].trace
        for kind in trace.kinds:
            seen = one["trace"]["attention"][kind]
            difference = np.array(seen["values"]).reshape(seen["shape"]) - trace.attention(kind)
            largest = max(largest, float(np.abs(difference).max()))
    return largest


@click.command()
@click.option("--sentences", default=3000, show_default=True)
@click.option("--seed", default=0, show_default=True)
def main(sentences: int, seed: int) -> None:
    """Print what was found."""
    texts = sorted({wrong for wrong, _ in rows_of_sets()})
    texts = random.Random(seed).sample(texts, min(sentences, len(texts)))
    light, other, changes, largest = light_corrector(DEFAULT_MODEL), [], 0, 0.0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        build.write_folder(build.make(), Path(folder))
        browser = launched(playwright)
        with static_host(Path(folder)) as address, visiting(browser, address) as page:
            is_open(page)
            for start in range(0, len(texts), TOGETHER):
                some = texts[start : start + TOGETHER]
                found, wanted = answers(page, some), light.correct_batch(some)
                other += [
                    text
                    for text, one, its in zip(some, found, wanted, strict=True)
                    if one["text"] != its.text
                ]
                changes += sum(refused(one, its) for one, its in zip(found, wanted, strict=True))
                largest = max(largest, apart(page, some[:WITH_ATTENTION], wanted[:WITH_ATTENTION]))
                click.echo(f"  {start + len(some):,}: {len(other)} differ, {largest:.1e} apart", err=True)
        browser.close()
    same = 1 - len(other) / len(texts)
    click.echo(
        f"{len(texts):,} sentences, the same text of {same:.2%}, {changes} changes that Python refuses, ",
        nl=False,
    )
    click.echo(f"attention at most {largest:.1e} apart")
    for text in other[:20]:
        click.echo(f"  {text!r}")
    if same < LEAST or changes or largest > CLOSE:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
