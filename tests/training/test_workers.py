import itertools
import multiprocessing
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from model.tokenizer import Tokenizer
from training.stream import PoolMaker, Position, StreamSettings
from training.vocabulary import choose_characters
from training.workers import Stream

SENTENCES = [f"{number}번 손님이 왔는데 방이 없으면 어떡해요." for number in range(120)]
POOLS = PoolMaker(
    SENTENCES,
    Tokenizer(choose_characters([])),
    StreamSettings(seed=3, batch_tokens=300, pool_sentences=50),
)


def equal(first, second) -> bool:
    return len(first) == len(second) and all(
        np.array_equal(a, b) for x, y in zip(first, second, strict=True) for a, b in zip(x, y, strict=True)
    )


def take(start: Position, count: int, **settings):
    with Stream(POOLS, start, **settings) as stream:
        return list(itertools.islice(stream, count))


def test_a_stream_yields_the_pools_in_order_and_resumes_at_any_position():
    made = [POOLS(i) for i in range(5)]  # into the second epoch
    expected = [batch for pool in made for batch in pool]
    taken = take(Position(0, 0), len(expected))
    positions = [position for _, position in taken]
    assert equal([batch for batch, _ in taken], expected)
    assert positions[:2] == [Position(0, 1), Position(0, 2)]
    assert positions[len(made[0]) - 1] == Position(1, 0)
    assert positions[-1] == Position(5, 0)

    begun = len(made[0]) + 2  # two batches into the second pool, with another number of workers
    assert positions[begun - 1] == Position(1, 2)
    again = take(Position(1, 2), len(expected) - begun, workers=2, ahead=2)
    assert equal([batch for batch, _ in again], expected[begun:])
    assert [position for _, position in again] == positions[begun:]


class Endless:
    """Makes one pool at once and never finishes the next."""

    def __call__(self, index):
        if index:
            time.sleep(600)
        return ["a batch"]


def test_processes_are_ended_even_in_the_middle_of_a_pool():
    began, before = time.monotonic(), set(multiprocessing.active_children())
    with Stream(Endless(), Position(0, 0), workers=2) as stream:
        assert next(iter(stream)) == ("a batch", Position(1, 0))
        mine = set(multiprocessing.active_children()) - before
    for process in mine:
        process.join(timeout=20)
    assert len(mine) == 2 and not any(process.is_alive() for process in mine)
    assert time.monotonic() - began < 60


def test_a_process_of_its_own_forks_and_ends_at_once():
    """As a training does that has loaded no network library yet."""
    program = (
        "from tests.training.test_workers import *\n"
        "with Stream(Endless(), Position(0, 0), workers=3) as stream:\n"
        "    print(next(iter(stream)))\n"
        "    print({type(each).__name__ for each in multiprocessing.active_children()})\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, timeout=60, check=True
    )
    assert "ForkProcess" in done.stdout or sys.platform != "linux"
