"""Load through nginx on two page processes that share an engine, of which one page process is killed meanwhile.

    python benchmarks/failover.py --visitors 100 --seconds 60

Needs nginx (Debian: apt-get install nginx-light). Starts the engine, two page processes and nginx with
``deploy/nginx.conf`` on free ports, and ends them. The figures are those of ``load.py``: nobody may be lost, although
half of the visitors have to come back, and the other page process takes them all.
"""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
from load import BUSY, LoadPlan, tell, visit_all
from visitor import wait_for_the_network

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "deploy" / "nginx.conf"
PATIENCE = 180  # seconds, of a start


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running(*command: str, cwd: Path = ROOT, **settings) -> Iterator[subprocess.Popen]:
    """A process that ends with the block."""
    process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, **settings)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:  # on cores that are taken, Streamlit may need longer to end
            process.kill()
            process.wait()


def wait_for(address: str) -> None:
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.2)


def page(stack: ExitStack, engine: Path, workers: int) -> tuple[subprocess.Popen, int]:
    """A page process that uses the workers in ``engine``, and its port."""
    port = free_port()
    environment = os.environ | {"ATTENTION_ENGINE": str(engine), "ATTENTION_WORKERS": str(workers)}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.address", "127.0.0.1"]
    command += ["--server.port", str(port), "--server.headless", "true"]
    process = stack.enter_context(
        running(*command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    )
    return process, port


def configured(folder: Path, pages: list[int], port: int) -> Path:
    """``deploy/nginx.conf`` with other ports, and its files in ``folder``."""
    changes = {"listen 127.0.0.1:8080": f"listen 127.0.0.1:{port}", "/tmp/attention-nginx": f"{folder}/nginx"}
    changes |= {f"127.0.0.1:{8501 + i} max": f"127.0.0.1:{found} max" for i, found in enumerate(pages)}
    text = CONFIG.read_text("utf-8")
    for usual, other in changes.items():
        if usual not in text:
            raise ValueError(f"{CONFIG} should have {usual!r}")
        text = text.replace(usual, other)
    (folder / "nginx.conf").write_text(text, "utf-8")
    return folder / "nginx.conf"


async def visit_while_one_ends(visitors: int, plan: LoadPlan, process: subprocess.Popen):
    async def end() -> None:
        await asyncio.sleep(plan.seconds / 2)
        process.kill()

    await wait_for_the_network(plan.address, PATIENCE)
    figures, _ = await asyncio.gather(visit_all(visitors, plan), end())
    return figures


@click.command()
@click.option("--visitors", type=click.IntRange(1, 1000), default=100, show_default=True)
@click.option("--seconds", type=click.FloatRange(1, 3600), default=60, show_default=True)
@click.option("--every", type=click.FloatRange(0.1), default=3.0, show_default=True, help="Seconds.")
@click.option("--patience", type=click.FloatRange(1, 300), default=60.0, show_default=True, help="Seconds.")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True)
def main(visitors, seconds, every, patience, workers):
    """Print how long the visitors waited; ends with 1 where one was lost, saw an error, or nobody had to come back."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="failover-")))
        engine = [sys.executable, "-m", "engine", str(folder / "engine"), "--workers", str(workers)]
        stack.enter_context(running(*engine, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        pages = [page(stack, folder / "engine", workers) for _ in range(2)]
        port = free_port()
        config = configured(folder, [number for _, number in pages], port)
        nginx = ["nginx", "-p", str(folder), "-c", str(config), "-e", "stderr", "-g", "daemon off;"]
        stack.enter_context(running(*nginx, stderr=subprocess.DEVNULL))
        for number in (*(number for _, number in pages), port):
            wait_for(f"http://127.0.0.1:{number}/_stcore/health")
        plan = LoadPlan(f"http://127.0.0.1:{port}", seconds, every, patience, BUSY)
        figures = asyncio.run(visit_while_one_ends(visitors, plan, pages[0][0]))
    tell(visitors, plan, figures)
    sys.exit(bool(figures.lost or figures.errors or figures.gone or not figures.back))


if __name__ == "__main__":
    main()
