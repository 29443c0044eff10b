"""Running server with its workers, visited over its websocket: processes, libraries.

Needs /proc (Linux).
"""

import asyncio
import os
import select
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.visitor import GONE, Visitor
from tests.serving import started
from tests.waiting import wait_until

SECONDS = 120
TYPED = "고갱이 왔다"


def workers(server: subprocess.Popen) -> set[int]:
    """The processes that ``server`` has started and that are workers."""
    children = Path(f"/proc/{server.pid}/task").glob("*/children")
    begun = {int(pid) for each in children for pid in each.read_text().split()}
    return {pid for pid in begun if b"engine.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()}


def libraries(pid: int) -> str:
    return Path(f"/proc/{pid}/maps").read_text()


async def come(visitor: Visitor) -> None:
    """Open the page; the server may still be starting."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return await visitor.open(SECONDS)
        except GONE:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.2)


async def draws(visitor: Visitor, text: str) -> None:
    """Return once a run has come to its end that shows ``text`` outside of the text area."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            seen = await visitor.next_run(1)
        except TimeoutError:  # the model is being loaded; a browser would ask for news, too
            assert time.monotonic() < deadline
            await visitor.type(visitor.text)
            continue
        assert not seen.errors
        if seen.finished and text in seen.shown and visitor.area:
            return


async def visit(address: str) -> None:
    """One who types, one who comes meanwhile, and one whose page process has gone."""
    one, other = Visitor(address), Visitor(address)
    await come(one)
    await draws(one, "overview")
    await one.type(f"{TYPED} 1234")
    await come(other)
    await draws(other, "overview")
    await draws(one, "1234")
    await one.close()
    one.text = f"{TYPED} 5678"  # typed while no server answered
    one.session = ""
    await come(one)
    await draws(one, "5678")
    for visitor in (one, other):
        await visitor.close()


def test_the_network_runs_in_processes_that_begin_before_the_first_visitor_and_end_with_the_server():
    with started(ATTENTION_WORKERS="2", ATTENTION_ENGINE="") as (process, address):
        wait_until(lambda: len(workers(process)) == 2)
        with ThreadPoolExecutor(1) as apart:  # a browser's test leaves a loop in this one
            apart.submit(asyncio.run, visit(address)).result()
        found = workers(process)
        assert len(found) == 2
        assert "tensorflow" not in libraries(process.pid)
        wait_until(lambda: "pandas" in libraries(process.pid))  # in spare time, so that no page waits for it
        assert all("onnxruntime" in libraries(pid) and "tensorflow" not in libraries(pid) for pid in found)
        ends = [os.pidfd_open(pid) for pid in found]
        process.send_signal(signal.SIGTERM)
        process.wait(SECONDS)
        for end in ends:
            assert select.select([end], [], [], SECONDS)[0]
