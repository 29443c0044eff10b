"""Command ``python -m training ship RUN``: rebuild all that depends on a run's weights.

It continues where it was stopped.
"""

import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from training.options import command
from training.ship.steps import PYTHON, ROOT, Journal, ShipPlan, Step, steps_of

JOURNAL_FILE = "ship.json"
Execute = Callable[[Sequence[str]], None]


def run_command(command: Sequence[str]) -> None:
    """Run one command in the repository's folder. Raises subprocess.CalledProcessError where it fails."""
    words = [sys.executable if word == PYTHON else word for word in command]
    subprocess.run(words, cwd=ROOT, check=True)


def make(steps: Sequence[Step], journal: Journal, console: Console, execute: Execute) -> int:
    """Make the steps that are not done yet, in order; returns how many those were.

    Raises click.ClickException where a step lacks an input, fails, or leaves less than it declares.
    """
    made = 0
    for number, step in enumerate(steps, start=1):
        title = f"[{number}/{len(steps)}] {step.name}: {step.purpose}"
        if journal.is_done(step):
            console.print(f"{title} – done", markup=False)
            continue
        console.rule(Text(title), align="left")
        if left := sum(
            journal.seconds(each) or 0 for each in steps[number - 1 :] if not journal.is_done(each)
        ):
            console.print(f"to go: {_duration(left)}, if it takes as long as last time")
        seconds = _make_one(step, execute)
        journal.record(step, seconds)
        console.print(f"{step.name} took {_duration(seconds)}")
        console.print(ProgressBar(total=len(steps), completed=number))
        made += 1
    return made


def _make_one(step: Step, execute: Execute) -> float:
    if missing := step.missing():
        raise click.ClickException(f"{step.name} needs {', '.join(map(str, missing))}")
    for path in step.outputs:
        path.parent.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    for words in step.commands:
        try:
            execute(words)
        except subprocess.CalledProcessError as error:
            failed = f"{step.name} failed with status {error.returncode}: {shlex.join(words)}"
            raise click.ClickException(failed) from error
    if absent := [path for path in step.outputs if not path.exists()]:
        raise click.ClickException(f"{step.name} left no {', '.join(map(str, absent))}")
    return time.perf_counter() - started


def _duration(seconds: float) -> str:
    """
    >>> _duration(42), _duration(630), _duration(9000)
    ('42 s', '10 min 30 s', '2 h 30 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours = minutes // 60
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def listed(steps: Sequence[Step], journal: Journal) -> Table:
    """A row for each step, with whether it is done and how long it took."""
    table = Table("step", "what it does", "state", "took")
    for step in steps:
        seconds = journal.seconds(step)
        state = "done" if journal.is_done(step) else "to do"
        table.add_row(step.name, step.purpose, state, _duration(seconds) if seconds is not None else "")
    return table


@command("ship", plan=ShipPlan)
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path, resolve_path=True))
@click.option("--only", multiple=True, metavar="STEP", help="Only this step; may be given several times.")
@click.option(
    "--without", multiple=True, metavar="STEP", help="All but this step; may be given several times."
)
@click.option("--list", "show_list", is_flag=True, help="Show the steps and whether they are done.")
@click.option("--dry-run", is_flag=True, help="Print the commands that would run.")
def ship(
    run: Path,
    only: tuple[str, ...],
    without: tuple[str, ...],
    *,
    show_list: bool,
    dry_run: bool,
    plan: ShipPlan,
) -> None:
    """Ship the weights in RUN: average them, fit their confidence, measure everything, and write the numbers
    into the documents. Run it again to continue after a stop; what is done is skipped."""
    steps = steps_of(run, plan)
    names = [step.name for step in steps]
    if unknown := {*only, *without} - set(names):
        raise click.UsageError(f"no step {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    steps = [step for step in steps if (not only or step.name in only) and step.name not in without]
    journal, console = Journal(run / JOURNAL_FILE), Console(highlight=False)
    if show_list:
        console.print(listed(steps, journal))
    elif dry_run:
        for step in steps:
            if not journal.is_done(step):
                click.echo("\n".join(shlex.join(command) for command in step.commands))
    else:
        made = make(steps, journal, console, run_command)
        console.print(f"{made} of {len(steps)} steps were made" if made else "nothing was left to do")
