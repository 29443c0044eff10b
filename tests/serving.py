"""Processes that tests start: a fresh Python, a server of the app."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.server import free_port

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
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", "--server.headless", "true"]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"ATTENTION_AHEAD": "0"} | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=60)


@contextmanager
def serving(**environment: str) -> Iterator[str]:
    """The address of an app that answers; see ``started``."""
    with started(**environment) as (process, address):
        _wait_until_healthy(process, f"{address}/_stcore/health")
        yield address


def _wait_until_healthy(process: subprocess.Popen, url: str) -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended at once with status {process.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"no answer from {url}")
