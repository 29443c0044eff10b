"""Processes that tests start: a fresh Python, a server of the app."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.server import free_port, running_page, wait_for_server

ROOT = Path(__file__).parents[1]


def printed(code: str) -> str:
    """The output of a fresh Python that runs ``code``; fails with its error output."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@contextmanager
def started(**environment: str) -> Iterator[tuple[subprocess.Popen, str]]:
    """(process, address) of `streamlit run app.py` with these variables besides; it ends with the block.

    Its workers make no graphs while idle: that would take a core from the tests for a minute or two.
    """
    port = free_port()
    with running_page(port, **{"ATTENTION_AHEAD": "0"} | environment) as process:
        yield process, f"http://127.0.0.1:{port}"


@contextmanager
def serving(**environment: str) -> Iterator[str]:
    """The address of an app that answers; see ``started``."""
    with started(**environment) as (process, address):
        wait_for_server(int(address.rpartition(":")[2]), process)
        yield address
