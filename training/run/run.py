"""Training loop: its steps, learning rates, checkpoints, record and progress line.

``Run`` is one training run. ``Clock`` ends it after some minutes, and fits its learning rates to that time. A
checkpoint is one file that is replaced at once and holds all that a run needs to continue on the same
numbers. ``progress_line`` shows loss, speed and time left on standard error.
"""

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from model.stored.config import NetworkConfig
from model.stored.folder import save_model_folder, save_snapshot, write_atomically
from model.text.tokenizer import Tokenizer
from training.options import UnusableError
from training.run.examples import Practised
from training.run.record import COLUMNS, Origin, Past, Record, add_graph, hardware
from training.run.settings import Knobs
from training.run.steps import Steps, development_batches
from training.run.stream import Batch, Position, batch_shapes


class Clock:
    """Tells when the time of a run is over, and where on its schedule it stands.

    Without a limit the schedule follows the steps. With one it follows steps or time, whichever is further
    along, so the learning rate has come down when the time is over. A run that is simply cut off has never
    come down from a high rate.

    >>> clock = Clock(seconds=100, first=0, total=1000, now=iter([0, 50, 100]).__next__)
    >>> clock.step_of_schedule(20)
    500
    >>> clock.is_over()
    True
    """

    def __init__(
        self, seconds: float | None, first: int, total: int, now: Callable[[], float] = time.monotonic
    ):
        self.seconds, self.first, self.total, self.now = seconds, first, total, now
        self.begun = now()

    def is_over(self) -> bool:
        """Whether so many seconds have passed.

        >>> Clock(seconds=None, first=0, total=9).is_over()
        False
        """
        return self.seconds is not None and self.now() - self.begun >= self.seconds

    def step_of_schedule(self, step: int) -> int:
        """The step whose learning rate step number ``step`` is taken with.

        >>> Clock(seconds=None, first=0, total=9).step_of_schedule(4)
        4
        """
        if self.seconds is None:
            return step
        share = min(1.0, (self.now() - self.begun) / max(self.seconds, 1e-9))
        return max(step, math.ceil(self.first + share * (self.total - self.first)))


FILE_NAME = "checkpoint.npz"


@dataclass(frozen=True)
class RunState:
    """The progress of a run."""

    step: int = 0  # optimiser steps taken
    pairs: int = 0  # pairs seen
    tokens: int = 0  # real target tokens seen
    seconds: float = 0.0  # of training, stops left out
    mean_loss: float | None = None  # running mean of the batches' losses, in nats
    snapshot_loss: float | None = None  # mean_loss when the weights were last kept as a snapshot
    position: Position = field(default=Position(0, 0))  # of the stream: the next batch


class CheckpointError(UnusableError):
    """A checkpoint that cannot be continued from; the message says why."""


def _variables(model: Any) -> dict[str, Any]:
    """Every number that training changes: weights, optimiser moments, dropout's random state."""
    return {variable.path: variable for variable in [*model.variables, *model.optimizer.variables]}


def save_checkpoint(folder: Path, model: Any, progress: RunState) -> None:
    """Write the compiled model's variables and the progress.

    Raises OSError where the folder cannot be written.
    """
    arrays = {path: np.asarray(variable.value) for path, variable in _variables(model).items()}
    arrays["progress"] = np.array(json.dumps(asdict(progress)))
    write_atomically(folder / FILE_NAME, lambda file: np.savez(file, allow_pickle=False, **arrays))


def load_checkpoint(folder: Path, model: Any | None = None) -> RunState:
    """How far a saved run has come; the beginning where nothing was saved yet.

    Its variables are put into the compiled ``model``, if one is given. Raises CheckpointError for a damaged
    file, or one of another network: the run must not silently start anew.
    """
    path = folder / FILE_NAME
    if not path.exists():
        return RunState()
    try:
        with np.load(path, allow_pickle=False) as archive:
            progress = json.loads(str(archive["progress"]))
            for name, variable in (_variables(model) if model else {}).items():
                saved = archive[name]  # reads it from the file
                if saved.shape != variable.shape:
                    raise ValueError(f"{name} is {saved.shape} there, {tuple(variable.shape)} here")
                variable.assign(saved)
            return RunState(**progress | {"position": Position(*progress["position"])})
    except Exception as error:
        raise CheckpointError(f"{path} does not belong to this run or is damaged: {error}") from error


SHOWN_SECONDS = 0.2  # how often the progress is shown: on a GPU steps are quicker than a terminal


def _make_steps(network: Any, precision: str, mean_loss: float | None) -> Steps:
    """The implementation of optimiser steps for the backend that Keras runs on."""
    import keras

    if keras.backend.backend() == "jax":
        from training.run.compiled import CompiledSteps

        return CompiledSteps(network, precision, mean_loss)
    return Steps(network, mean_loss)


Batches = Iterable[tuple[Batch, Position]]


class Begun(NamedTuple):
    """The beginning of a run: its network, the weights that it starts from, and what was chosen for it."""

    network: NetworkConfig
    origin: Origin | None
    settings: dict[str, Any]  # ``settings_of``, as ``run.json`` holds them
    command: str  # that was typed


class Run:
    """One training run in one folder: ``checkpoint.npz``, and ``model/`` with the weights and its record."""

    def __init__(
        self,
        folder: Path,
        knobs: Knobs,
        tokenizer: Tokenizer,
        dev_items: Sequence[Practised],
        begun: Begun,
    ):
        import keras

        from training.run.network import compile_network

        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.knobs, self.tokenizer, self.begun = folder, knobs, tokenizer, begun
        self.schedule = knobs.schedule_for(begun.network)
        keras.utils.set_random_seed(knobs.seed)
        from model.network.networks import build_network  # loads a network library

        network = build_network(begun.network, tokenizer)
        self.network = compile_network(network, knobs.optimizer, knobs.label_smoothing, knobs.precision)
        if begun.origin:
            begun.origin.put_into(self.network)
        self.progress = load_checkpoint(folder, self.network)
        self.steps = _make_steps(self.network, knobs.precision, self.progress.mean_loss)
        self.shapes = batch_shapes(knobs)
        longest = begun.network.max_length
        self.dev_batches = development_batches(dev_items, tokenizer, longest, knobs) if dev_items else []
        self.record = Record(self.model_folder, begun.origin.past if begun.origin else Past())
        self.record.open_history(self.progress.step)
        self.describe()

    @property
    def model_folder(self) -> Path:
        return self.folder / "model"

    def step(self, batch: Batch, position: Position, rate: float, seconds: float) -> None:
        """One optimiser step; ``seconds`` have passed since the one before."""
        self.steps.take(batch, rate)
        self.progress = replace(
            self.progress,
            step=self.progress.step + 1,
            pairs=self.progress.pairs + len(batch.source),
            tokens=self.progress.tokens + int((batch.target > 0).sum()),
            seconds=self.progress.seconds + seconds,
            position=position,
        )

    def settle(self) -> RunState:
        """Wait until the steps that were started are done; the progress with their running mean.

        The mean loss is in nats.
        """
        self.progress = replace(self.progress, mean_loss=self.steps.mean_loss())
        return self.progress

    def save(self) -> None:
        """Write the checkpoint and the model. Raises OSError where the folder cannot be written."""
        progress = self.settle()

        def write() -> None:
            save_checkpoint(self.folder, self.network, progress)
            save_model_folder(self.model_folder, self.network, self.tokenizer)
            add_graph(self.model_folder)
            self.describe(progress)

        self.steps.keep(write)

    def describe(self, progress: RunState | None = None) -> None:
        """Write the settings and the progress into ``run.json``."""
        now = progress or self.progress
        taken = {"steps": now.step, "pairs": now.pairs, "tokens": now.tokens, "seconds": round(now.seconds)}
        self.record.write_run(
            {"command": self.begun.command, "hardware": hardware(), "taken": taken, **self.begun.settings}
        )

    def log(self, measured: bool, rate: float) -> None:
        """One row of the history, with the development scores where they were ``measured``.

        The loss is in nats, the time in seconds.
        """
        dev = self.steps.measure(self.dev_batches) if measured else ("", "")
        now = self.settle()
        row = (now.step, now.mean_loss, rate, *dev, now.pairs, now.seconds)
        self.record.add(**dict(zip(COLUMNS, row, strict=True)))

    def train(self, batches: Batches, show: Callable[[RunState], None], seconds: float | None = None) -> None:
        """Run until the schedule's last step or for so many ``seconds``.

        ``show(progress)`` is called now and then.

        With ``snapshot_drop`` the weights are kept beside the model at the start, at the end, and whenever
        the mean loss has fallen by that share since they were last kept. With ``snapshot_every`` they are
        kept each time so many steps have passed, to be averaged.
        """
        began = time.monotonic()
        if self.progress.step < self.schedule.steps:
            if self.knobs.snapshot_drop and not self.progress.step:
                self._snapshot(0)
            self.steps.prepare(self.shapes, [batch.source.shape for batch in self.dev_batches])
            arriving = iter(batches)
            first = next(arriving)  # the schedule waits until all is compiled and the first pairs are made
            left = None if seconds is None else seconds - (time.monotonic() - began)
            clock = Clock(left, self.progress.step, self.schedule.steps)
            self._train(chain([first], arriving), show, clock)
        else:
            self.save()
        self.steps.close()

    def _train(self, batches: Batches, show: Callable[[RunState], None], clock: Clock) -> None:
        before, shown, knobs = time.perf_counter(), 0.0, self.knobs
        for batch, position in batches:
            rate = self.schedule(clock.step_of_schedule(self.progress.step + 1))
            now = time.perf_counter()
            self.step(batch, position, rate, now - before)
            before = now
            step = self.progress.step
            last = step == self.schedule.steps or clock.is_over()
            if knobs.snapshot_drop:
                self._keep_snapshot(1 - knobs.snapshot_drop, last)
            if knobs.snapshot_every and step % knobs.snapshot_every == 0:
                self._snapshot(step)
            measured = bool(self.dev_batches) and (step % knobs.dev_every == 0 or last)
            if measured or step % knobs.history_every == 0:
                self.log(measured, rate)
            if last or step % knobs.checkpoint_every == 0:
                self.save()
            if last or now - shown >= SHOWN_SECONDS:
                shown = now
                show(self.settle())
            if last:
                return

    def _snapshot(self, step: int) -> None:
        self.steps.keep(lambda: save_snapshot(self.model_folder, self.network, step))

    def _keep_snapshot(self, share: float, last: bool) -> None:
        now = self.settle()
        kept = now.snapshot_loss
        fallen = kept is not None and now.mean_loss is not None and now.mean_loss <= share * kept
        if last or kept is None or fallen:
            self.progress = replace(now, snapshot_loss=now.mean_loss)
            if last or kept is not None:
                self._snapshot(now.step)


PRINT_SECONDS = 30  # how often a line is written where the output is no terminal


@contextmanager
def progress_line(total: int, first: int) -> Iterator[Callable[[RunState], None]]:
    """A live bar on a terminal, else a plain line now and then, from step ``first`` to ``total``.

    Gives the function that takes the state after a step.
    """
    console, begun = Console(stderr=True), list[RunState]()
    started = printed = time.monotonic()

    def show(progress: RunState) -> None:
        nonlocal started, printed
        now = time.monotonic()
        if not begun:
            begun.append(progress)
            started = now
        elapsed = max(now - started, 1e-6)
        speed = (progress.pairs - begun[0].pairs) / elapsed
        text = f"loss {progress.mean_loss:.3f} · {speed:,.0f} pairs/s"
        bar.update(task, completed=progress.step, description=text)
        if not console.is_terminal and (now - printed >= PRINT_SECONDS or progress.step == total):
            printed = now
            left = elapsed / max(progress.step - first - 1, 1) * (total - progress.step)
            told = f"step {progress.step:,}/{total:,} · {text} · {left / 60:.0f} min left"
            console.print(told, highlight=False)

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total, completed=first)
        yield show
