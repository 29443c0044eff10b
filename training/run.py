"""One training run: its steps, its checkpoint, and its record."""

import time
from dataclasses import asdict, replace
from pathlib import Path

from model.folder import build_network, save_model_folder, save_snapshot
from model.tokenizer import Tokenizer
from training.checkpoint import Progress, load_checkpoint, save_checkpoint
from training.development import DevelopmentSet
from training.judge import Judge
from training.network import compile_network
from training.record import COLUMNS, Past, Record, hardware
from training.settings import Origin, TrainingConfig
from training.stream import Batch, PoolMaker, Position, stream


class Run:
    """One training run in one folder: ``checkpoint.npz``, and ``model/`` with its record beside the weights."""

    def __init__(
        self,
        folder: Path,
        config: TrainingConfig,
        tokenizer: Tokenizer,
        items: list,
        dev_items: list,
        origin: Origin | None = None,
        judge: Judge | None = None,
        command: str = "",
    ):
        import keras

        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.config, self.tokenizer = folder, config, tokenizer
        self.maker = PoolMaker(items, tokenizer, config.stream, judge)
        self.dev = DevelopmentSet(dev_items, tokenizer, config.network.max_length) if dev_items else None
        keras.utils.set_random_seed(config.stream.seed)
        network = build_network(config.network, tokenizer)
        self.network = compile_network(network, config.optimizer, config.label_smoothing, config.precision)
        if origin:
            origin.put_into(self.network)
        self.progress = load_checkpoint(folder, self.network) or Progress()
        self.record = Record(self.model_folder, origin.past if origin else Past())
        self.command = command
        self.record.open_history(self.progress.step)
        self.describe()

    @property
    def model_folder(self) -> Path:
        return self.folder / "model"

    def step(self, batch: Batch, position: Position) -> None:
        """One optimiser step."""
        number = self.progress.step + 1
        started = time.perf_counter()
        self.network.optimizer.learning_rate = self.config.schedule(number)
        loss = float(self.network.train_on_batch((batch.source, batch.decoder_input), batch.target))
        mean = self.progress.mean_loss
        self.progress = replace(
            self.progress,
            step=number,
            pairs=self.progress.pairs + len(batch.source),
            tokens=self.progress.tokens + int((batch.target > 0).sum()),
            seconds=self.progress.seconds + time.perf_counter() - started,
            mean_loss=loss if mean is None else 0.98 * mean + 0.02 * loss,
            position=position,
        )

    def save(self) -> None:
        save_checkpoint(self.folder, self.network, self.progress)
        save_model_folder(self.model_folder, self.network, self.tokenizer)
        self.describe()

    def describe(self) -> None:
        """Put into ``run.json`` what was asked for, and how far it has come."""
        now = self.progress
        taken = {"steps": now.step, "pairs": now.pairs, "tokens": now.tokens, "seconds": round(now.seconds)}
        self.record.write_run(
            {"command": self.command, "hardware": hardware(), "taken": taken, **asdict(self.config)}
        )

    def log(self, measured: bool) -> None:
        """One row of the history, with the development scores where they were ``measured``."""
        dev = self.dev.measure(self.network) if measured and self.dev else ("", "")
        now = self.progress
        rate = self.config.schedule(now.step)
        row = (now.step, now.mean_loss, rate, *dev, now.pairs, now.seconds)
        self.record.add(**dict(zip(COLUMNS, row, strict=True)))

    def train(
        self,
        show,
        history_every: int,
        checkpoint_every: int,
        dev_every: int,
        workers: int,
        snapshot_drop: float | None = None,
        snapshot_every: int | None = None,
    ) -> None:
        """Run to the schedule's last step, calling ``show(progress, mean loss)`` after each step.

        With ``snapshot_drop`` the weights are kept beside the model at the start, at the end, and
        whenever the mean loss has fallen by that share since they were last kept; with ``snapshot_every``
        after each so many steps, to be averaged.
        """
        total = self.config.schedule.steps
        if self.progress.step >= total:
            return self.save()
        if snapshot_drop and not self.progress.step:
            save_snapshot(self.model_folder, self.network, 0)
        for batch, position in stream(self.maker, self.progress.position, workers):
            self.step(batch, position)
            step = self.progress.step
            show(self.progress, self.progress.mean_loss)
            last = step == total
            if snapshot_drop:
                self._keep_snapshot(1 - snapshot_drop, last)
            if snapshot_every and step % snapshot_every == 0:
                save_snapshot(self.model_folder, self.network, step)
            measured = bool(self.dev) and (step % dev_every == 0 or last)
            if measured or step % history_every == 0:
                self.log(measured)
            if last or step % checkpoint_every == 0:
                self.save()
            if last:
                return None
        return None

    def _keep_snapshot(self, share: float, last: bool) -> None:
        now = self.progress
        kept = now.snapshot_loss
        fallen = kept is not None and now.mean_loss is not None and now.mean_loss <= share * kept
        if last or kept is None or fallen:
            self.progress = replace(now, snapshot_loss=now.mean_loss)
            if last or kept is not None:
                save_snapshot(self.model_folder, self.network, now.step)
