"""Benchmark of the page of a class's texts: time to correct all rows of a file.

    python benchmarks/table.py [--rows 10000]

The rows are made sentences of 20 to 60 characters with errors in them. They go the page's way: a ``TableJob``
that asks the engine for a few at a time. The model is loaded and its lengths are compiled before the clock
starts.
"""

import os
import random
import sys
import time
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.sentences import pair_of
from engine.client import Engine
from model.stored.folder import ASSETS, DEFAULT_MODEL
from ui.asking.files import tables

LOOK = 0.5  # seconds between two looks at how far it is


@click.command()
@click.option("--rows", default=10_000, show_default=True)
def main(rows: int) -> None:
    """Print the seconds and the rows a second."""
    rng = random.Random(0)
    text = "\n".join(pair_of(rng, rng.randint(20, 60)).wrong for _ in range(rows))
    folder = ASSETS / DEFAULT_MODEL
    with Engine.start([folder], workers=1) as engine:
        corrector = engine.open(folder)
        corrector.correct("가나")
        begun = time.monotonic()
        job = tables().job(text.encode(), "class.txt", corrector)
        while not job.is_over:
            time.sleep(LOOK)
        taken = time.monotonic() - begun
    if job.error:
        raise job.error
    changed = sum(bool(row.kinds) for row in job.done)
    click.echo(
        f"{rows:,} rows of {len(text) / rows:.0f} characters, {changed:,} changed, 1 workers: {taken:.0f} s, "
        f"{rows / taken:.0f} rows a second; {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
