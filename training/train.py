"""``python -m training train``: clean sentences in, a model folder out."""

import csv
import ctypes
import json
import os
import platform
import random
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import click
import numpy as np

from model.config import TransformerConfig
from model.folder import VOCABULARY_FILE, load_vocabulary, save_model_folder
from model.tokenizer import Tokenizer
from training.checkpoint import Progress, load_checkpoint, save_checkpoint
from training.corpus import Pair, read_corpus
from training.noise.pairs import make_pair
from training.progress import ProgressLine
from training.schedule import SCHEDULES, Schedule
from training.stream import Batch, PoolMaker, Position, StreamSettings, make_batch, stream
from training.vocabulary import choose_characters

HISTORY_COLUMNS = ("step", "loss", "learning_rate", "dev_loss", "dev_token_accuracy", "pairs", "seconds")


@dataclass(frozen=True)
class TrainingConfig:
    """Everything that decides a run's result, besides the corpus itself."""

    corpus: tuple[str, ...]
    dev: str | None
    schedule: Schedule
    network: TransformerConfig
    label_smoothing: float = 0.0
    stream: StreamSettings = field(default_factory=StreamSettings)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"


def keep_freed_memory() -> None:
    """Tell glibc to keep the large arrays that a step frees, for the next step.

    Otherwise each step maps and zeroes them anew: that took a quarter of the processor time of a
    step (1.93 s against 1.45 s at d_model 128, 4+4 layers, 128 pairs of 32 tokens). The numbers
    are M_MMAP_MAX and M_TRIM_THRESHOLD of malloc.h; other C libraries are left as they are.
    """
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        libc.mallopt(-4, 0)
        libc.mallopt(-1, 2**31 - 1)


def compile_network(config: TrainingConfig, tokenizer: Tokenizer):
    """A built network with its optimiser: Adam with the paper's betas (section 5.3) and clipping."""
    import keras

    from model.transformer import Transformer
    from training.loss import MaskedCrossEntropy

    keras.utils.set_random_seed(config.stream.seed)
    network = Transformer(config.network, tokenizer.features())
    network.build()
    optimizer = keras.optimizers.Adam(1.0, beta_1=0.9, beta_2=0.98, epsilon=1e-9, global_clipnorm=1.0)
    # XLA gained nothing here on CPU cores and compiles for seconds per shape; on a GPU it does gain.
    jit = keras.backend.backend() == "jax"
    network.compile(optimizer=optimizer, loss=MaskedCrossEntropy(config.label_smoothing), jit_compile=jit)
    optimizer.build(network.trainable_variables)
    return network


class DevelopmentSet:
    """A fixed set of generated pairs; its loss and token accuracy are watched during training."""

    def __init__(self, items: list, tokenizer: Tokenizer, max_length: int, count: int = 512):
        rng = random.Random(1)
        rows = []
        for item in items[:count]:
            wrong, right = item if not isinstance(item, str) else _wrong_right(item, rng)
            if max(len(wrong), len(right)) <= max_length:
                rows.append((tokenizer.encode_source(wrong), tokenizer.encode_target(right)))
        if not rows:
            raise ValueError(f"no development sentence has at most {max_length} characters")
        rows.sort(key=lambda pair: max(map(len, pair)))
        self.batches = [make_batch(rows[i : i + 64]) for i in range(0, len(rows), 64)]

    def measure(self, network) -> tuple[float, float]:
        """(mean loss in nats, share of right tokens given the right prefix)."""
        loss = right = total = 0.0
        for batch in self.batches:
            logits = np.asarray(network.predict_on_batch((batch.source, batch.decoder_input)), np.float64)
            real = batch.target > 0
            normaliser = np.log(np.exp(logits - logits.max(-1, keepdims=True)).sum(-1)) + logits.max(-1)
            chosen = np.take_along_axis(logits, batch.target[..., None].astype(int), -1)[..., 0]
            loss += ((normaliser - chosen) * real).sum()
            right += ((logits.argmax(-1) == batch.target) & real).sum()
            total += real.sum()
        return loss / total, right / total


def _wrong_right(text: str, rng: random.Random) -> tuple[str, str]:
    pair = make_pair(text, rng)
    return pair.wrong, pair.right


class Run:
    """One training run in one folder: ``run.json``, ``checkpoint.npz``, ``history.csv``, ``model/``."""

    def __init__(
        self, folder: Path, config: TrainingConfig, tokenizer: Tokenizer, items: list, dev_items: list
    ):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.config, self.tokenizer = folder, config, tokenizer
        self.maker = PoolMaker(items, tokenizer, config.stream)
        self.dev = DevelopmentSet(dev_items, tokenizer, config.network.max_length) if dev_items else None
        self.network = compile_network(config, tokenizer)
        self.progress = load_checkpoint(folder, self.network) or Progress()
        (folder / "run.json").write_text(config.to_json(), encoding="utf-8")
        self._open_history()

    def _open_history(self) -> None:
        """Keep the rows up to the checkpoint: later ones belong to steps that are about to be repeated."""
        path, kept = self.folder / "history.csv", []
        if path.exists():
            with open(path, newline="", encoding="utf-8") as file:
                kept = [row for row in csv.DictReader(file) if int(row["step"]) <= self.progress.step]
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, HISTORY_COLUMNS)
            writer.writeheader()
            writer.writerows(kept)

    def _log(self, **row) -> None:
        with open(self.folder / "history.csv", "a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, HISTORY_COLUMNS).writerow(row)

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
        save_model_folder(self.folder / "model", self.network, self.tokenizer)

    def train(self, show, history_every: int, checkpoint_every: int, dev_every: int, workers: int) -> None:
        """Run to the schedule's last step, calling ``show(progress, mean loss)`` after each step."""
        total = self.config.schedule.steps
        if self.progress.step >= total:
            return self.save()
        for batch, position in stream(self.maker, self.progress.position, workers):
            self.step(batch, position)
            step = self.progress.step
            show(self.progress, self.progress.mean_loss)
            last = step == total
            measured = self.dev and (step % dev_every == 0 or last)
            if measured or step % history_every == 0:
                dev = self.dev.measure(self.network) if measured else ("", "")
                row = (
                    step,
                    self.progress.mean_loss,
                    self.config.schedule(step),
                    *dev,
                    self.progress.pairs,
                    self.progress.seconds,
                )
                self._log(**dict(zip(HISTORY_COLUMNS, row, strict=True)))
            if last or step % checkpoint_every == 0:
                self.save()
            if last:
                return None
        return None


def _read(paths: tuple[str, ...]) -> list:
    """Sentences as strings and pairs as tuples; what had to be skipped is said on standard error."""
    items = []
    for path in paths:
        corpus = read_corpus(path)
        if corpus.problems:
            click.echo(corpus.problem_summary(), err=True)
        items += [(row.source, row.target) if isinstance(row, Pair) else row.text for row in corpus.rows]
    return items


def _tokenizer(folder: Path, items: list) -> Tokenizer:
    """The run's own vocabulary where it has begun, so that ids never move; else one for these items."""
    path = folder / "model" / VOCABULARY_FILE
    if path.exists():
        return load_vocabulary(path)
    return Tokenizer(choose_characters(item if isinstance(item, str) else item[1] for item in items))


def _config(options: dict, corpus: tuple[str, ...], dev: str | None, vocab_size: int) -> TrainingConfig:
    return TrainingConfig(
        corpus=tuple(Path(path).name for path in corpus),
        dev=Path(dev).name if dev else None,
        schedule=Schedule(
            options["schedule"],
            options["peak"],
            options["warmup"],
            options["steps"],
            options["decay"],
            options["d_model"],
        ),
        network=TransformerConfig(
            vocab_size=vocab_size,
            d_model=options["d_model"],
            num_layers=options["num_layers"],
            num_heads=options["num_heads"],
            dff=options["dff"],
            dropout_rate=options["dropout"],
            norm_first=options["norm_first"],
        ),
        label_smoothing=options["label_smoothing"],
        stream=StreamSettings(seed=options["seed"], batch_tokens=options["batch_tokens"]),
    )


@click.command()
@click.option(
    "--corpus", multiple=True, type=click.Path(exists=True), help="Correct sentences: .jsonl or .txt."
)
@click.option(
    "--pairs", multiple=True, type=click.Path(exists=True), help="Pairs of your own: CSV with src,tgt."
)
@click.option("--dev", type=click.Path(exists=True), help="Sentences or pairs whose loss is watched.")
@click.option(
    "--out", required=True, type=click.Path(file_okay=False), help="The run's folder; resumed if begun."
)
@click.option("--steps", default=20_000, show_default=True, help="Optimiser steps in all.")
@click.option("--schedule", default="trapezoid", type=click.Choice(SCHEDULES), show_default=True)
@click.option("--peak", default=1e-3, show_default=True, help="Highest learning rate (a factor for 'paper').")
@click.option("--warmup", default=1000, show_default=True)
@click.option("--decay", default=0.25, show_default=True, help="Trapezoid: share of steps that come down.")
@click.option("--d-model", default=128, show_default=True)
@click.option("--num-layers", default=4, show_default=True)
@click.option("--num-heads", default=4, show_default=True)
@click.option("--dff", default=512, show_default=True)
@click.option("--dropout", default=0.0, show_default=True)
@click.option("--norm-first/--norm-last", default=True, show_default=True)
@click.option("--label-smoothing", default=0.0, show_default=True)
@click.option("--batch-tokens", default=4096, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--workers", default=1, show_default=True, help="Processes that make pairs.")
@click.option("--history-every", default=50, show_default=True)
@click.option("--checkpoint-every", default=250, show_default=True)
@click.option("--dev-every", default=1000, show_default=True)
def train(corpus, pairs, dev, out, workers, history_every, checkpoint_every, dev_every, **options):
    """Train a corrector; run the same command again to continue after a stop."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # TensorFlow leaves oneDNN off on processors without AVX-512; its products took a quarter less there.
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    keep_freed_memory()
    if not corpus and not pairs:
        raise click.UsageError("give --corpus with correct sentences, or --pairs with pairs of your own")
    items, dev_items = _read((*corpus, *pairs)), _read((dev,)) if dev else []
    tokenizer = _tokenizer(Path(out), items)
    config = _config(options, (*corpus, *pairs), dev, tokenizer.vocab_size)
    run = Run(Path(out), config, tokenizer, items, dev_items)
    click.echo(
        f"{run.network.count_params():,} parameters, {len(items):,} sentences, "
        f"step {run.progress.step:,} of {config.schedule.steps:,}",
        err=True,
    )
    with ProgressLine(config.schedule.steps, run.progress.step) as line:
        run.train(line.show, history_every, checkpoint_every, dev_every, workers)
    click.echo(f"{Path(out) / 'model'}")
