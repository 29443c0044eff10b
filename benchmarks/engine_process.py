"""What it costs to have the network in a process of its own, and what it gains.

    python benchmarks/engine_process.py [--starts 3] [--sentences 100]

Three tables: seconds from the start of the engine until its worker is ready, to its first answer, and to the first one that
asks the analyser of morphemes; milliseconds for a sentence with its
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
PLAIN = "손님이 왔는데 방이 없으면 어떻게 해요?"  # nothing in it is doubtful, so no morphemes are asked for
VISITORS = 30  # that wait for an answer at any time


def seconds_of_a_start(doubtful: str) -> tuple[float, float, float]:
    """From the start until the worker is ready, has answered PLAIN, and has answered ``doubtful``."""
    started = time.perf_counter()
    with Engine.start([FOLDER]) as engine:
        model = engine.open(FOLDER)
        while not model.prepare().is_ready:
            time.sleep(0.005)
        ready = time.perf_counter() - started
        model.correct(PLAIN)
        plain = time.perf_counter() - started
        model.correct(doubtful)
        return ready, plain, time.perf_counter() - started


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
    times = zip(*(seconds_of_a_start(texts[0]) for _ in range(starts)), strict=True)
    for name, seconds in zip(("until it is ready", "to an answer", "to a doubtful one"), times, strict=True):
        click.echo(f"seconds {name:18} {' '.join(f'{each:.2f}' for each in seconds)}")
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
