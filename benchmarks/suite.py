"""Where does the time of the tests go? Their processor time, file by file, with that of the browsers, servers and workers they start.

    python benchmarks/suite.py [--files 25] [-n 2] [-m "not browser"] [tests/model …]

What is not its own option goes to pytest. A run beside other work takes longer by the clock, and little longer by the processor. No run can
end sooner than the sum divided by the number of processes; what it takes beyond that it has waited.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import click
import psutil
import pytest

ROOT = Path(__file__).parents[1]
RECORDS = "SUITE_RECORDS"  # the variable that names the folder
KINDS = ("the tests themselves", "browsers", "servers and workers")


class Spent(NamedTuple):
    """A file's tests in one process, or the collection of all files."""

    file: str
    tests: int
    clock: float  # seconds
    processor: dict[str, float]  # seconds of each of KINDS

    @property
    def total(self) -> float:
        return sum(self.processor.values())


def processor_times() -> Counter:
    """Seconds of this process and of all that it has started, the ended ones included."""
    found: Counter = Counter()
    own = psutil.Process()
    for process in (own, *own.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            name, times = process.name().lower(), process.cpu_times()
            driver = "chrom" in name or "firefox" in name or "node" in name
            kind = KINDS[0] if process == own else KINDS[1] if driver else KINDS[2]
            found[kind] += times.user + times.system
            # A browser whose driver has ended is counted here, too.
            found[KINDS[2] if process == own else kind] += times.children_user + times.children_system
    return found


class Recorder:
    """The plugin: writes a line whenever the tests of a file have ended."""

    def __init__(self, folder: Path):
        self.path = folder / f"{os.getpid()}.jsonl"
        self._tests, self._clock, self._times = 0, time.monotonic(), Counter()

    def pytest_collection_finish(self) -> None:
        self._write("(collection)")

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._tests += 1

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        done = yield
        if nextitem is not None and nextitem.path != item.path:
            self._write(item.path.relative_to(ROOT).as_posix())
        return done

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item, nextitem) -> None:
        if nextitem is None:  # the browsers end with the last test, and what they took can no longer be read
            self._tests += 1
            self._write(item.path.relative_to(ROOT).as_posix())

    def _write(self, file: str) -> None:
        clock, times = time.monotonic(), processor_times()
        spent = Spent(file, self._tests, clock - self._clock, {k: times[k] - self._times[k] for k in KINDS})
        with self.path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(spent) + "\n")
        self._tests, self._clock, self._times = 0, clock, times


def pytest_configure(config) -> None:
    """In each process that runs tests; with ``-n`` the first one only hands them out."""
    if (folder := os.environ.get(RECORDS)) and not getattr(config.option, "numprocesses", None):
        config.pluginmanager.register(Recorder(Path(folder)), "spent")


def records(folder: Path) -> Iterator[Spent]:
    for path in folder.glob("*.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            yield Spent(*json.loads(line))


def room(file: str) -> str:
    """``tests/model/graph`` of ``tests/model/graph/test_opened.py``; two folders are enough."""
    return "/".join(file.split("/")[:-1][:3]) or file


def table(rows: dict[str, list[Spent]], most: int) -> Iterator[str]:
    """A Markdown table of what takes longest, the sum first."""
    yield f"|  | tests | {' | '.join(KINDS)} | processor | clock |"
    yield "|---|---|---|---|---|---|---|"
    for name, spent in sorted(rows.items(), key=lambda row: -sum(each.total for each in row[1]))[:most]:
        by_kind = [sum(each.processor[kind] for each in spent) for kind in KINDS]
        clock, tests = sum(each.clock for each in spent), sum(each.tests for each in spent)
        yield f"| {name} | {tests:,} | {' | '.join(f'{n:.0f}' for n in (*by_kind, sum(by_kind), clock))} |"


def grouped(spent: list[Spent], key) -> dict[str, list[Spent]]:
    return {name: [each for each in spent if key(each) == name] for name in {key(each) for each in spent}}


@click.command(context_settings={"ignore_unknown_options": True})
@click.option(
    "--files", type=click.IntRange(min=0), default=25, show_default=True, help="How many are listed."
)
@click.argument("pytest_arguments", nargs=-1, type=click.UNPROCESSED)
def main(files, pytest_arguments):
    """Run tests and print where their time went, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "benchmarks.suite", *pytest_arguments]
        started = time.monotonic()
        ended = subprocess.run(command, cwd=ROOT, env=os.environ | {RECORDS: folder}, check=False)
        clock, spent = time.monotonic() - started, list(records(Path(folder)))
    for rows, most in (
        ({"all": spent}, 1),
        (grouped(spent, lambda each: room(each.file)), len(spent)),
        (grouped(spent, lambda each: each.file), files),
    ):
        click.echo("\n" + "\n".join(table(rows, most)))
    click.echo(f"\n{clock:.0f} s by the clock")
    sys.exit(ended.returncode)


if __name__ == "__main__":
    main()
