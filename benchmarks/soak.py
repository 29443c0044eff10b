"""A day in an hour: sessions that come, type and go, while the server's memory, threads, files and sockets are counted.

    python benchmarks/soak.py --sessions 2000 --sentences 20000

Needs psutil and Linux besides requirements.txt. Starts the app on a free port. Each session opens the page, types its
share of the sentences, each a new one, waits for every answer, and closes. MB are 10^6 bytes, resident. Ends with 1 where
a sentence got no answer, where memory is more than 15% above that after the first 1,000 sentences, or where there are
more threads, files or sockets at the end than after the first twentieth, but for SPARE. A run of fewer than 2,000 sentences
says nothing about memory: graphs are still being compiled, and caches filled.
"""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import click
import psutil
from failover import free_port, running, wait_for
from idle import wait_until_idle
from load import sentences
from visitor import GONE, Visitor, wait_for_the_network

ROOT = Path(__file__).parents[1]


class Spare(NamedTuple):
    """How many more there may be."""

    threads: int
    files: int
    sockets: int


MOST_GROWTH = 1.15
FIRST = 1000  # sentences
KEPT = 128  # sessions that were closed and that Streamlit keeps for two minutes, each with a file and two sockets
SPARE = Spare(threads=8, files=KEPT + 8, sockets=2 * KEPT + 8)
PATIENCE = 300  # seconds for one answer
REST = 5  # seconds before counting, in which what has been closed goes


class Count(NamedTuple):
    """Counts of the page process and its workers together. ``seconds``: the processor time of the page, and that of the workers."""

    megabytes: float
    threads: int
    files: int
    sockets: int
    seconds: tuple[float, float]


def count(server: psutil.Process) -> Count:
    processes = [server, *server.children(recursive=True)]
    sockets = sum(len(each.net_connections(kind="all")) for each in processes)
    files = sum(each.num_fds() for each in processes) - sockets
    threads = sum(each.num_threads() for each in processes)
    times = [sum(each.cpu_times()[:2]) for each in processes]
    megabytes = sum(each.memory_info().rss for each in processes) / 1e6
    return Count(megabytes, threads, files, sockets, (times[0], sum(times[1:])))


async def type_and_wait(visitor: Visitor, text: str, number: str) -> None:
    """Raises TimeoutError where no answer comes."""
    ends = time.monotonic() + PATIENCE
    await visitor.type(text)
    while True:
        seen = await visitor.next_run(ends - time.monotonic())
        if seen.errors:
            raise TimeoutError("the page shows an error")
        if seen.finished and number in seen.shown:
            return


async def session(address: str, numbers: list[int], texts: list[str]) -> int:
    """One visitor's stay; returns how many sentences got no answer."""
    visitor, done = Visitor(address), 0
    try:
        await visitor.open(PATIENCE)
        while not visitor.area:
            await visitor.next_run(PATIENCE)
        for number in numbers:
            own = f"{10_000_000 + number}"
            await type_and_wait(visitor, f"{texts[number % len(texts)].rstrip('.?!')} {own}", own)
            done += 1
    except GONE:
        pass
    finally:
        await visitor.close()
    return len(numbers) - done


async def many(address: str, groups: list[list[int]], at_once: int) -> int:
    texts, door = sentences(0), asyncio.Semaphore(at_once)

    async def one(numbers: list[int]) -> int:
        async with door:
            return await session(address, numbers, texts)

    return sum(await asyncio.gather(*map(one, groups)))


def tell(done: int, seconds: float, found: Count) -> None:
    click.echo(
        f"{done:7,} sentences, {seconds / 60:6.1f} min: {found.megabytes:6.0f} MB, {found.threads} threads, "
        f"{found.files} files, {found.sockets} sockets; load {os.getloadavg()[0]:.1f}"
    )


def soak(
    address: str, server: psutil.Process, groups: list[list[int]], at_once: int
) -> tuple[int, list[Count]]:
    """(sentences without an answer, what was counted after each twentieth)."""
    lost, counts, started, done = 0, [], time.monotonic(), 0
    size = -(-len(groups) // 20)
    for part in (groups[first : first + size] for first in range(0, len(groups), size)):
        lost += asyncio.run(many(address, part, at_once))
        done += sum(map(len, part))
        time.sleep(REST)
        counts.append(count(server))
        tell(done, time.monotonic() - started, counts[-1])
    return lost, counts


@click.command()
@click.option("--sessions", type=click.IntRange(20), default=2000, show_default=True)
@click.option("--sentences", "number", type=click.IntRange(20), default=20_000, show_default=True)
@click.option("--at-once", type=click.IntRange(1), default=8, show_default=True, help="Open sessions.")
def main(sessions, number, at_once):
    """Print what the server holds after each twentieth of the sentences."""
    groups = [list(range(first, number, sessions)) for first in range(sessions)]
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.address", "127.0.0.1"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with running(*command, "--server.port", str(port), "--server.headless", "true", **quiet) as process:
        address = f"http://127.0.0.1:{port}"
        wait_for(f"{address}/_stcore/health")
        asyncio.run(wait_for_the_network(address, PATIENCE))
        wait_until_idle()  # else the first count comes before the laboratory's graphs, a third of the memory
        lost, counts = soak(address, psutil.Process(process.pid), groups, at_once)
    first, last = counts[0], counts[-1]
    warm = counts[min(len(counts) - 1, -(-FIRST * len(counts) // number) - 1)]
    grown = last.megabytes / warm.megabytes
    more = [mine - theirs - spare for mine, theirs, spare in zip(last[1:4], first[1:4], SPARE, strict=True)]
    page, workers = (
        (mine - theirs) / number / 0.95 for mine, theirs in zip(last.seconds, first.seconds, strict=True)
    )
    click.echo(
        f"processor time of a sentence: {1e3 * page:.0f} ms in the page, {1e3 * workers:.0f} ms in the workers"
    )
    click.echo(f"{sessions:,} sessions, {number:,} sentences, {lost} without an answer; memory x {grown:.2f}")
    sys.exit(bool(lost or grown > MOST_GROWTH or max(more) > 0))


if __name__ == "__main__":
    main()
