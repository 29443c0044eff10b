"""One training run: its steps, its checkpoint, and its record."""

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path

from model.network.loading import build_network
from model.stored.folder import save_model_folder, save_snapshot
from model.text.tokenizer import Tokenizer
from training.run.checkpoint import RunState, load_checkpoint, save_checkpoint
from training.run.clock import Clock
from training.run.development import DevelopmentSet
from training.run.network import compile_network
from training.run.origin import Origin
from training.run.record import COLUMNS, Past, Record, hardware
from training.run.settings import Knobs, TrainingConfig
from training.run.steps import make_steps
from training.run.stream import Batch, Position, batch_shapes

SHOWN_SECONDS = 0.2  # how often the progress is shown: on a GPU steps are quicker than a terminal


class Run:
    """One training run in one folder: ``checkpoint.npz``, and ``model/`` with its record beside the weights."""

    def __init__(
        self,
        folder: Path,
        config: TrainingConfig,
        tokenizer: Tokenizer,
        dev_items: list,
        origin: Origin | None = None,
        command: str = "",
    ):
        import keras

        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.config, self.tokenizer = folder, config, tokenizer
        keras.utils.set_random_seed(config.stream.seed)
        network = build_network(config.network, tokenizer)
        self.network = compile_network(network, config.optimizer, config.label_smoothing, config.precision)
        if origin:
            origin.put_into(self.network)
        self.progress = load_checkpoint(folder, self.network) or RunState()
        self.steps = make_steps(self.network, config.precision, self.progress.mean_loss)
        self.shapes = batch_shapes(config.stream)
        self.dev_batches = self._development(dev_items) if dev_items else []
        self.record = Record(self.model_folder, origin.past if origin else Past())
        self.command = command
        self.record.open_history(self.progress.step)
        self.describe()

    @property
    def model_folder(self) -> Path:
        return self.folder / "model"

    def _development(self, items: list) -> list[Batch]:
        dev = DevelopmentSet(items, self.tokenizer, self.config.network.max_length)
        stream = self.config.stream
        return dev.batches_of(stream.widths, stream.batch_tokens) if stream.widths else dev.batches

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
        """Wait until the steps that were started are done; the progress with their running mean."""
        self.progress = replace(self.progress, mean_loss=self.steps.mean_loss())
        return self.progress

    def save(self) -> None:
        """Write the checkpoint and the model."""
        progress = self.settle()

        def write():
            save_checkpoint(self.folder, self.network, progress)
            save_model_folder(self.model_folder, self.network, self.tokenizer)
            self.describe(progress)

        self.steps.keep(write)

    def describe(self, progress: RunState | None = None) -> None:
        """Put into ``run.json`` what was asked for, and how far it has come."""
        now = progress or self.progress
        taken = {"steps": now.step, "pairs": now.pairs, "tokens": now.tokens, "seconds": round(now.seconds)}
        self.record.write_run(
            {"command": self.command, "hardware": hardware(), "taken": taken, **asdict(self.config)}
        )

    def log(self, measured: bool, rate: float) -> None:
        """One row of the history, with the development scores where they were ``measured``."""
        dev = self.steps.measure(self.dev_batches) if measured else ("", "")
        now = self.settle()
        row = (now.step, now.mean_loss, rate, *dev, now.pairs, now.seconds)
        self.record.add(**dict(zip(COLUMNS, row, strict=True)))

    def train(
        self,
        batches: Iterable[tuple[Batch, Position]],
        knobs: Knobs,
        show: Callable[[RunState, float], None],
        seconds: float | None = None,
    ) -> None:
        """Run until the schedule's last step or for so many ``seconds``. ``show(progress, mean loss)`` is called now and then.

        With ``snapshot_drop`` the weights are kept beside the model at the start, at the end, and whenever the mean loss has
        fallen by that share since they were last kept. With ``snapshot_every`` they are kept each time so many steps have passed, to
        be averaged.
        """
        began = time.monotonic()
        if self.progress.step < self.config.schedule.steps:
            if knobs.snapshot_drop and not self.progress.step:
                self._snapshot(0)
            self.steps.prepare(self.shapes, [batch.source.shape for batch in self.dev_batches])
            arriving = iter(batches)
            first = next(arriving)  # the schedule waits until all is compiled and the first pairs are made
            left = None if seconds is None else seconds - (time.monotonic() - began)
            clock = Clock(left, self.progress.step, self.config.schedule.steps)
            self._train(chain([first], arriving), knobs, show, clock)
        else:
            self.save()
        self.steps.close()

    def _train(self, batches, knobs: Knobs, show, clock: Clock) -> None:
        before, shown = time.perf_counter(), 0.0
        for batch, position in batches:
            rate = self.config.schedule(clock.step_of_schedule(self.progress.step + 1))
            now = time.perf_counter()
            self.step(batch, position, rate, now - before)
            before = now
            step = self.progress.step
            last = step == self.config.schedule.steps or clock.is_over()
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
                show(self.settle(), self.progress.mean_loss)
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
