"""From a keystroke to the server's answer, without a browser: several versions of the app, asked in turns.

    python benchmarks/keys_in_turns.py FOLDER [FOLDER ...] [--keys 120]

Each FOLDER is a checkout of the app (`git worktree add`). All servers run at once and each key is typed into one after the other, in an
order that is drawn anew, so that their times compare although the machine is faster one minute than the next: differences of two
milliseconds show, where `keystroke.py`, which measures what an eye sees, needs ten. Each key makes a sentence that nobody has typed.
"""

import asyncio
import os
import random
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import click
import numpy as np
from failover import PATIENCE, free_port, running, wait_for
from idle import wait_until_idle
from visitor import Visitor, wait_for_the_network

TYPED = "고갱니믈 만나러 가치 부산에 갔어요 그런데 안되요 생각읃 날싸 "
SYLLABLES = range(ord("가"), ord("힣") + 1)
FIRST = 3  # keys that are not counted


def started(folder: Path, stack: ExitStack) -> tuple[subprocess.Popen, str]:
    """The process of the app in ``folder`` and its address, until the stack is left."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", "--server.headless", "true"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = stack.enter_context(running(*command, cwd=folder, **quiet))
    address = f"http://127.0.0.1:{port}"
    wait_for(address)
    return process, address


async def come(address: str) -> Visitor:
    await wait_for_the_network(address, PATIENCE)
    visitor = Visitor(address)
    await visitor.open(PATIENCE)
    while not visitor.area:
        await visitor.next_run(PATIENCE)
    return visitor


async def milliseconds(visitor: Visitor, text: str) -> tuple[float, float]:
    """Until the corrected text, and until the end of the page's run."""
    begun = time.monotonic()
    await visitor.type(text)
    while not (seen := await visitor.next_run(PATIENCE)).finished:
        pass
    return 1000 * (seen.corrected[-1][0] - begun), 1000 * (time.monotonic() - begun)


async def measure(addresses: list[str], keys: int) -> np.ndarray:
    """(versions, keys, 2) milliseconds."""
    visitors = [await come(address) for address in addresses]
    await asyncio.to_thread(wait_until_idle, patience=1800.0)
    rng, taken = random.Random(0), [[] for _ in visitors]
    for _ in range(FIRST + keys):
        text = TYPED + chr(rng.choice(SYLLABLES))
        for number in rng.sample(range(len(visitors)), len(visitors)):
            taken[number].append(await milliseconds(visitors[number], text))
            await asyncio.sleep(0.05)  # the server tidies up after a run
    for visitor in visitors:
        await visitor.close()
    return np.array(taken)[:, FIRST:]


@click.command()
@click.argument(
    "folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--keys", type=click.IntRange(1), default=120, show_default=True)
def main(folders, keys):
    """Print for each version the median and the 95th percentile of both times."""
    with ExitStack() as stack:
        addresses = [started(folder, stack)[1] for folder in folders]
        taken = asyncio.run(measure(addresses, keys))
    click.echo(f"{os.cpu_count()} processors, {keys} keys in turns, milliseconds")
    for folder, each in zip(folders, taken, strict=True):
        told = [f"{np.median(column):.1f} ({np.percentile(column, 95):.1f})" for column in each.T]
        click.echo(f"{folder}: corrected text {told[0]}, end of the run {told[1]}")


if __name__ == "__main__":
    main()
