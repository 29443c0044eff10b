"""Load through nginx on two page processes that share an engine, of which one page process is killed
meanwhile.

    python benchmarks/failover.py --visitors 100 --seconds 60

Needs nginx (Debian: apt-get install nginx-light). Starts the engine, two page processes and nginx with
``deploy/nginx.conf`` on free ports, and ends them. The figures are those of ``load.py``. No visitor may be
lost, although half of them have to come back and the other page process takes them all.
"""

import asyncio
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.load import BUSY, Figures, LoadPlan, load_options, print_figures, visit_all
from benchmarks.server import QUIET, ROOT, START, free_port, running, running_page, wait_for_server
from benchmarks.visitor import wait_for_the_network

CONFIG = ROOT / "deploy" / "nginx.conf"


def configured(folder: Path, pages: list[int], port: int) -> Path:
    """Write ``deploy/nginx.conf`` with the ports of ``pages`` and ``port``, and with its files in ``folder``.

    Raises:
        ValueError: where the configuration lacks a line that has to be changed.
    """
    changes = {"listen 127.0.0.1:8080": f"listen 127.0.0.1:{port}", "/tmp/attention-nginx": f"{folder}/nginx"}
    changes |= {f"127.0.0.1:{8501 + i} max": f"127.0.0.1:{page} max" for i, page in enumerate(pages)}
    text = CONFIG.read_text("utf-8")
    for usual, other in changes.items():
        if usual not in text:
            raise ValueError(f"{CONFIG} should have {usual!r}")
        text = text.replace(usual, other)
    (folder / "nginx.conf").write_text(text, "utf-8")
    return folder / "nginx.conf"


async def visit_while_one_ends(visitors: int, plan: LoadPlan, process: subprocess.Popen) -> Figures:
    """The figures of all visitors; ``process`` is killed after half of the plan's seconds."""

    async def end() -> None:
        await asyncio.sleep(plan.seconds / 2)
        process.kill()

    await wait_for_the_network(plan.address, START)
    figures, _ = await asyncio.gather(visit_all(visitors, plan), end())
    return figures


@click.command()
@load_options(visitors=100)
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True)
def main(visitors, seconds, every, patience, workers):
    """Print how long the visitors waited; ends with 1 where one was lost, saw an error, or none had to come
    back.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="failover-")))
        engine = str(folder / "engine")
        stack.enter_context(
            running(sys.executable, "-m", "engine", engine, "--workers", str(workers), **QUIET)
        )
        settings = {"ATTENTION_ENGINE": engine, "ATTENTION_WORKERS": str(workers)}
        ports = [free_port(), free_port()]
        pages = [stack.enter_context(running_page(port, **settings)) for port in ports]
        port = free_port()
        nginx = ["nginx", "-p", str(folder), "-c", str(configured(folder, ports, port))]
        nginx += ["-e", "stderr", "-g", "daemon off;"]
        stack.enter_context(running(*nginx, stderr=subprocess.DEVNULL))
        for each in (*ports, port):
            wait_for_server(each, 0.2)
        plan = LoadPlan(f"http://127.0.0.1:{port}", seconds, every, patience, BUSY)
        figures = asyncio.run(visit_while_one_ends(visitors, plan, pages[0]))
    print_figures(visitors, plan, figures)
    sys.exit(bool(figures.lost or figures.errors or figures.gone or not figures.back))


if __name__ == "__main__":
    main()
