"""What it costs to have the network in a process of its own, and what it gains.

    python benchmarks/engine_process.py [--starts 3] [--sentences 100]

Three tables: seconds from the start of the engine to its first answer; milliseconds for a sentence with its
attention, asked in the same process and over the engine in turns; sentences a second for many visitors at once, answered
by one thread and by two.
"""

import os
import random
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from made_sentences import pair_of

from engine import Engine
from engine.desk import Desk
from model import Corrector
from model.stored.folder import find_model_folder

FOLDER = find_model_folder("transformer")
CHARACTERS = 32
VISITORS = 30  # that wait for an answer at any time


def seconds_to_first_answer(text: str) -> float:
    started = time.perf_counter()
    with Engine.start([FOLDER]) as engine:
        engine.open(FOLDER).correct(text)
        return time.perf_counter() - started


def side_by_side(corrector: Corrector, texts: list[str]) -> tuple[list[float], list[float]]:
    """Milliseconds of each text with its trace: in this process, and over the engine."""
    here, there = [], []
    with Engine.start([FOLDER]) as engine:
        model = engine.open(FOLDER)
        model.correct(texts[0])
        for text in texts[1:]:
            for answer, found in ((corrector.correct, here), (model.correct, there)):
                started = time.perf_counter()
                _ = answer(text).trace
                found.append(1e3 * (time.perf_counter() - started))
    return here, there


def throughput(corrector: Corrector, texts: list[str], hands: int) -> tuple[float, float]:
    """(sentences a second, CPU milliseconds of each) with VISITORS who ask one after the other."""
    desk = Desk(corrector, limit=VISITORS, hands=hands)
    left: Iterator[str] = iter(texts)
    lock = threading.Lock()

    def visit() -> None:
        while True:
            with lock:
                text = next(left, None)
            if text is None:
                return
            desk.ask("correct", (text,))

    started, used = time.perf_counter(), time.process_time()
    visitors = [threading.Thread(target=visit) for _ in range(VISITORS)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    seconds, used = time.perf_counter() - started, time.process_time() - used
    desk.close()
    desk.join()
    return len(texts) / seconds, 1e3 * used / len(texts)


@click.command()
@click.option("--starts", default=3, show_default=True)
@click.option("--sentences", default=100, show_default=True)
def main(starts, sentences):
    """Print the three tables."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    rng = random.Random(21)
    texts = [pair_of(rng, CHARACTERS + 1).wrong for _ in range(4 * sentences)]
    click.echo(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; {CHARACTERS} characters")
    times = [seconds_to_first_answer(texts[0]) for _ in range(starts)]
    click.echo(f"seconds to the first answer: {' '.join(f'{each:.1f}' for each in times)}")
    corrector = Corrector.load(FOLDER)
    corrector.warm_up()
    here, there = side_by_side(corrector, texts[: sentences + 1])
    report("in the same process", here)
    report("over the engine", there)
    click.echo(f"ratio of the medians {statistics.median(there) / statistics.median(here):.2f}")
    for hands in (1, 2) * 2:
        rate, used = throughput(corrector, texts, hands)
        click.echo(f"{hands} threads: {rate:6.1f} sentences a second, {used:5.1f} ms of CPU each")


def report(name: str, times: list[float]) -> None:
    high = statistics.quantiles(times, n=20)[-1]
    click.echo(f"{name:20} median {statistics.median(times):5.1f} ms, 95th percentile {high:5.1f} ms")


if __name__ == "__main__":
    main()
