"""Load benchmark of two page processes behind nginx, one of which is killed meanwhile.

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

from benchmarks.load import SECONDS, VISITORS, Figures, print_figures, visit_all
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


async def visit_while_one_ends(
    visitors: int, seconds: float, address: str, process: subprocess.Popen
) -> Figures:
    """The figures of all visitors; ``process`` is killed after half of the ``seconds``."""
    await wait_for_the_network(address, START)
    asyncio.get_running_loop().call_later(seconds / 2, process.kill)
    return await visit_all(visitors, seconds, address)


@click.command()
@click.option("--visitors", default=100, show_default=True, type=VISITORS)
@SECONDS
def main(visitors: int, seconds: float) -> None:
    """Print how long the visitors waited; ends with 1 where one was lost, saw an error, or none had to come
    back.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="failover-")))
        engine = str(folder / "engine")
        stack.enter_context(running(sys.executable, "-m", "engine", engine, "--workers", "1", **QUIET))
        settings = {"ATTENTION_ENGINE": engine, "ATTENTION_WORKERS": "1"}
        ports = [free_port(), free_port()]
        pages = [stack.enter_context(running_page(port, **settings)) for port in ports]
        port = free_port()
        nginx = ["nginx", "-p", str(folder), "-c", str(configured(folder, ports, port))]
        nginx += ["-e", "stderr", "-g", "daemon off;"]
        server = stack.enter_context(running(*nginx, stderr=subprocess.DEVNULL))
        for each, process in zip((*ports, port), (*pages, server), strict=True):
            wait_for_server(each, process, 0.2)
        through = f"http://127.0.0.1:{port}"
        figures = asyncio.run(visit_while_one_ends(visitors, seconds, through, pages[0]))
    print_figures(visitors, seconds, figures)
    sys.exit(bool(figures.lost or figures.errors or figures.gone or not figures.back))


if __name__ == "__main__":
    main()
