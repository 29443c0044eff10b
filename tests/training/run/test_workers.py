import itertools
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from model.text.tokenizer import Tokenizer
from training.corpus.selection import choose_characters
from training.run.stream import PoolMaker, Position, Stream, StreamSettings

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
    again = take(Position(1, 2), len(expected) - begun, workers=2)
    assert equal([batch for batch, _ in again], expected[begun:])
    assert [position for _, position in again] == positions[begun:]


class Endless:
    """Makes one pool at once and never finishes another."""

    def __call__(self, index):
        if index:
            time.sleep(600)
        return ["a batch"]


def fail(index):
    raise ValueError(f"pool {index} cannot be made")


def write_without_end(_index):
    return [np.zeros(10_000_000)]  # more than a pipe holds: the process stands in the middle of writing


@pytest.mark.parametrize("maker", [Endless(), write_without_end])
def test_processes_are_ended_whatever_they_do(maker):
    began = time.monotonic()
    with Stream(maker, Position(0, 0), workers=2) as stream:
        _, position = next(iter(stream))
        assert position == Position(1, 0)
        mine = stream.processes
        assert all(process.is_alive() for process in mine)
    assert len(mine) == 2 and not any(process.is_alive() for process in mine)
    assert time.monotonic() - began < 100


def test_what_goes_wrong_in_a_process_is_raised_here():
    with Stream(fail, Position(4, 0)) as stream, pytest.raises(ValueError, match="pool 4"):
        next(iter(stream))
    with Stream(Endless(), Position(1, 0)) as stream:
        stream.processes[0].kill()
        with pytest.raises(RuntimeError, match="ended from outside"):
            next(iter(stream))


def test_without_a_network_library_processes_are_forked():
    """As those of a training are, which is a process of its own."""
    program = (
        "from tests.training.run.test_workers import *\n"
        "with Stream(Endless(), Position(0, 0), workers=3) as stream:\n"
        "    print(next(iter(stream)), {type(each).__name__ for each in stream.processes})\n"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, timeout=100, check=True
    )
    assert "ForkProcess" in done.stdout or sys.platform != "linux"
