"""``python -m training train``: clean sentences in, a model folder out."""

import ctypes
import os
import platform
import random
import shlex
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from click.core import ParameterSource

from model.config import TransformerConfig
from model.folder import (
    VOCABULARY_FILE,
    ModelFolderError,
    find_model_folder,
    load_model_folder,
    load_vocabulary,
    save_model_folder,
)
from model.tokenizer import Tokenizer
from training.checkpoint import Progress, load_checkpoint, save_checkpoint
from training.corpus import Pair, read_corpus
from training.noise.pairs import make_pair
from training.progress import ProgressLine
from training.record import COLUMNS, Past, Record, hardware
from training.schedule import SCHEDULES, Schedule
from training.stream import Batch, PoolMaker, Position, StreamSettings, make_batch, stream
from training.vocabulary import choose_characters


@dataclass(frozen=True)
class TrainingConfig:
    """Everything that decides a run's result, besides the corpus itself."""

    corpus: tuple[str, ...]
    dev: str | None
    schedule: Schedule
    network: TransformerConfig
    label_smoothing: float = 0.0
    optimizer: str = "adam"
    init: str | None = None  # name and fingerprint of the model it starts from; None: from nothing
    stream: StreamSettings = field(default_factory=StreamSettings)


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


# Adam with the paper's betas (section 5.3); or Muon (Jordan 2024, scaled as by Liu et al. 2025), which
# gives matrices an orthogonal update and everything else, embeddings included, Adam's.
OPTIMIZERS = {
    "adam": lambda library: library.Adam(1.0, beta_1=0.9, beta_2=0.98, epsilon=1e-9, global_clipnorm=1.0),
    "muon": lambda library: library.Muon(
        1.0, adam_beta_1=0.9, adam_beta_2=0.98, epsilon=1e-9, global_clipnorm=1.0
    ),
}


def compile_network(config: TrainingConfig, tokenizer: Tokenizer):
    """A built network with its loss and its optimiser."""
    import keras

    from model.transformer import Transformer
    from training.loss import MaskedCrossEntropy

    keras.utils.set_random_seed(config.stream.seed)
    network = Transformer(config.network, tokenizer.features())
    network.build()
    optimizer = OPTIMIZERS[config.optimizer](keras.optimizers)
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


class Origin(NamedTuple):
    """The model a run starts from."""

    name: str
    config: TransformerConfig
    tokenizer: Tokenizer
    weights: list[np.ndarray]
    past: Past

    @classmethod
    def load(cls, model: str) -> "Origin":
        """From a model's name in ``assets/`` or its folder. Raises ModelFolderError."""
        folder = find_model_folder(model)
        network, tokenizer, fingerprint = load_model_folder(folder)
        config = replace(network.config, minimum_confidence=0.0)  # chosen anew once the weights are known
        name = f"{folder.name} {fingerprint}"
        return cls(name, config, tokenizer, network.get_weights(), Past.read(folder))


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
        command: str = "",
    ):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.config, self.tokenizer = folder, config, tokenizer
        self.maker = PoolMaker(items, tokenizer, config.stream)
        self.dev = DevelopmentSet(dev_items, tokenizer, config.network.max_length) if dev_items else None
        self.network = compile_network(config, tokenizer)
        if origin:
            self.network.set_weights(origin.weights)
        self.progress = load_checkpoint(folder, self.network) or Progress()
        self.record = Record(folder / "model", origin.past if origin else Past())
        self.record.write_run({"command": command, "hardware": hardware(), **asdict(config)})
        self.record.open_history(self.progress.step)

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
                self.record.add(**dict(zip(COLUMNS, row, strict=True)))
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


def _config(
    options: dict, corpus: tuple[str, ...], dev: str | None, vocab_size: int, origin: Origin | None
) -> TrainingConfig:
    network = origin.config if origin else None
    return TrainingConfig(
        corpus=tuple(Path(path).name for path in corpus),
        dev=Path(dev).name if dev else None,
        schedule=Schedule(
            options["schedule"],
            options["peak"],
            options["warmup"],
            options["steps"],
            options["decay"],
            network.d_model if network else options["d_model"],
        ),
        network=network
        or TransformerConfig(
            vocab_size=vocab_size,
            d_model=options["d_model"],
            num_layers=options["num_layers"],
            num_heads=options["num_heads"],
            dff=options["dff"],
            dropout_rate=options["dropout"],
            norm_first=options["norm_first"],
        ),
        label_smoothing=options["label_smoothing"],
        optimizer=options["optimizer"],
        init=origin.name if origin else None,
        stream=StreamSettings(
            **{
                name: options[name]
                for name in ("seed", "batch_tokens", "strength", "rare_copies", "drill_share")
            }
        ),
    )


SHAPE_OPTIONS = ("d_model", "num_layers", "num_heads", "dff", "dropout", "norm_first")


def _origin(context: click.Context, init: str | None) -> Origin | None:
    if init is None:
        return None
    given = [o for o in SHAPE_OPTIONS if context.get_parameter_source(o) is ParameterSource.COMMANDLINE]
    if given:
        raise click.UsageError(f"with --init the shape comes from that model; leave out {given}")
    try:
        return Origin.load(init)
    except ModelFolderError as error:
        raise click.ClickException(str(error)) from error


def _command_line(context: click.Context) -> str:
    """The command as it could be typed again elsewhere: options that were given, files without their folders."""
    words = ["python -m training train"]
    for option in context.command.params:
        if context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            value = context.params[option.name]
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, bool):
                    words.append(option.opts[0] if one else option.secondary_opts[0])
                else:
                    is_path = isinstance(option.type, click.Path) or option.name == "init"
                    words += [option.opts[0], shlex.quote(Path(one).name if is_path else str(one))]
    return " ".join(words)


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
@click.option("--init", help="Start from this model (name in assets/, or folder) instead of from nothing.")
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
@click.option("--optimizer", default="adam", type=click.Choice(sorted(OPTIMIZERS)), show_default=True)
@click.option(
    "--strength", default=1.0, show_default=True, help="How often errors are made, times the usual."
)
@click.option("--rare-copies", default=0, show_default=True, help="More pairs of rare native mistakes.")
@click.option("--drill-share", default=0.0, show_default=True, help="Share of pairs with a native phrase.")
@click.option("--seed", default=0, show_default=True)
@click.option("--workers", default=1, show_default=True, help="Processes that make pairs.")
@click.option("--history-every", default=50, show_default=True)
@click.option("--checkpoint-every", default=250, show_default=True)
@click.option("--dev-every", default=1000, show_default=True)
@click.pass_context
def train(
    context, corpus, pairs, dev, out, init, workers, history_every, checkpoint_every, dev_every, **options
):
    """Train a corrector; run the same command again to continue after a stop."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # TensorFlow leaves oneDNN off on processors without AVX-512; its products took a quarter less there.
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    keep_freed_memory()
    if not corpus and not pairs:
        raise click.UsageError("give --corpus with correct sentences, or --pairs with pairs of your own")
    items, dev_items = _read((*corpus, *pairs)), _read((dev,)) if dev else []
    origin = _origin(context, init)
    tokenizer = origin.tokenizer if origin else _tokenizer(Path(out), items)
    config = _config(options, (*corpus, *pairs), dev, tokenizer.vocab_size, origin)
    run = Run(Path(out), config, tokenizer, items, dev_items, origin, _command_line(context))
    click.echo(
        f"{run.network.count_params():,} parameters, {len(items):,} sentences, "
        f"step {run.progress.step:,} of {config.schedule.steps:,}",
        err=True,
    )
    with ProgressLine(config.schedule.steps, run.progress.step) as line:
        run.train(line.show, history_every, checkpoint_every, dev_every, workers)
    click.echo(f"{Path(out) / 'model'}")
