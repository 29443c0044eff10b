"""Settings of a training run: all hyperparameters that decide its result beside the corpus."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from model.stored.config import NetworkConfig, Seq2SeqConfig, TransformerConfig
from model.stored.folder import ARCHITECTURES, fingerprint, model_name
from training.corpus.selection import read_weights
from training.options import COUNT, FOLDER, PATH, SHARE, knob, part
from training.run.record import Origin
from training.run.stream import Judge, StreamSettings

OPTIMIZERS = ("adam", "muon")
PRECISIONS = ("float32", "bfloat16")
SCHEDULES = ("paper", "trapezoid")


@dataclass(frozen=True)
class Schedule:
    """``paper``: Vaswani et al. (2017), equation 3, ``d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)``,
    times ``peak``. ``trapezoid``: linear warm-up to ``peak``, constant, then linear to zero over the
    last ``decay`` share of the steps (Zhai et al. 2022; Hägele et al. 2024): its plateau does not
    depend on the length of the run, so a run can be lengthened or cut short. Steps count from 1.
    """

    kind: str
    peak: float
    warmup: int
    steps: int
    decay: float
    d_model: int

    def __post_init__(self) -> None:
        if self.kind not in SCHEDULES:
            raise ValueError(f"schedule should be one of {SCHEDULES}, received {self.kind!r}")
        if self.warmup < 1 or self.steps < 1 or not 0 <= self.decay <= 1:
            raise ValueError(f"impossible schedule: {self}")

    def __call__(self, step: int) -> float:
        if self.kind == "paper":
            return self.peak * self.d_model**-0.5 * min(step**-0.5, step * self.warmup**-1.5)
        falling = max(1.0, self.decay * self.steps)
        return self.peak * max(0.0, min(1.0, step / self.warmup, (self.steps - step + 1) / falling))


_PROPER_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@dataclass(frozen=True)
class Knobs(StreamSettings):
    """The hyperparameters of a training run.

    Each field is an option of ``python -m training train``.
    """

    weights: Mapping[str, float] = knob(
        dict,
        "How often sentences of sources with this in their name are read:"
        " legalize=0.25; mt: machine-translated.",
        parse=read_weights,
        option="--weight",
        multiple=True,
    )
    judge_share: float = knob(0.3, "Share of the pairs that the judge keeps for their loss.", type=SHARE)

    steps: int = knob(20_000, "Optimiser steps in all.")
    schedule: str = knob("trapezoid", type=click.Choice(SCHEDULES))
    peak: float = knob(1e-3, "Highest learning rate (a factor for 'paper').")
    warmup: int = knob(1000, "Steps until the rate is at its highest.")
    decay: float = knob(0.25, "Trapezoid: share of steps that come down.")
    optimizer: str = knob("adam", type=click.Choice(OPTIMIZERS))
    label_smoothing: float = knob(0.0)
    precision: str = knob(
        "float32",
        "Of matrix products; bfloat16 is faster where the processor has AVX512_BF16 or AMX.",
        type=click.Choice(PRECISIONS),
    )

    architecture: str = knob("transformer", type=click.Choice(ARCHITECTURES))
    d_model: int = knob(128)
    num_layers: int = knob(4, "On each side. With --init: make that model deeper.")
    num_heads: int = knob(4)
    dff: int = knob(512, "With --init: make that model wider.")
    dropout: float = knob(0.0)
    norm_first: bool = knob(True, option="--norm-first/--norm-last")

    # Settings without an effect on the result, except --minutes, which can end it early.
    workers: int = knob(1, "Processes that make pairs.")
    minutes: float | None = knob(
        None,
        "Stop after so long, whole and saved,"
        " the learning rate at its end; counted from the command's start.",
        type=click.FloatRange(0, min_open=True),
    )
    history_every: int = knob(50, "Steps between two rows of history.csv.")
    checkpoint_every: int = knob(250, "Steps between two checkpoints.")
    dev_every: int = knob(1000, "Steps between two measurements on --dev.")
    snapshot_drop: float | None = knob(
        None,
        "Keep the weights each time the loss has fallen by this share, to watch the network grow up.",
        type=_PROPER_SHARE,
    )
    snapshot_every: int | None = knob(
        None, "Keep the weights after each so many steps, to average them: average --last.", type=COUNT
    )

    def network(self, vocab_size: int) -> NetworkConfig:
        """The config of the architecture, with the sizes given here."""
        shared: dict[str, Any] = {"vocab_size": vocab_size, "dropout_rate": self.dropout}
        shared |= {"d_model": self.d_model, "num_layers": self.num_layers}
        if self.architecture == "seq2seq":
            return Seq2SeqConfig(**shared)
        return TransformerConfig(**shared, num_heads=self.num_heads, dff=self.dff, norm_first=self.norm_first)

    def schedule_for(self, network: NetworkConfig) -> Schedule:
        """The learning rates of a network."""
        return Schedule(self.schedule, self.peak, self.warmup, self.steps, self.decay, network.d_model)


@dataclass(frozen=True)
class RunFiles:
    """The files and models of a run, all options of ``train`` beside its knobs."""

    corpus: tuple[Path, ...] = knob((), "Correct sentences: .jsonl or .txt.", multiple=True, type=PATH)
    pairs: tuple[Path, ...] = knob(
        (), "Pairs: CSV with src,tgt, or .jsonl with wrong, right.", multiple=True, type=PATH
    )
    dev: Path | None = knob(None, "Sentences or pairs whose loss is watched.", type=PATH)
    out: Path = knob(None, "The run's folder; resumed if begun.", required=True, type=FOLDER)
    init: str | None = knob(
        None, "Start from this model (name in assets/, or folder) instead of from nothing."
    )
    judge: str | None = knob(
        None, "A small model (name in assets/, or folder) that picks the pairs worth training on."
    )
    morphemes: Path | None = knob(
        None, "What pack wrote, instead of Kiwi, where its model is missing.", type=PATH
    )


def settings_of(
    knobs: Knobs, files: RunFiles, network: NetworkConfig, origin: Origin | None, judge: Judge | None
) -> dict[str, Any]:
    """The record in ``run.json`` of a run with these knobs on these files, whose names have no folders.

    Models have their fingerprint: the one that the run starts from, None where from nothing, and the one that
    picks the pairs, None where all are kept.
    """
    return {
        "corpus": [path.name for path in (*files.corpus, *files.pairs)],
        "dev": files.dev.name if files.dev else None,
        "schedule": asdict(knobs.schedule_for(network)),
        "network": asdict(network),
        "label_smoothing": knobs.label_smoothing,
        "optimizer": knobs.optimizer,
        "precision": knobs.precision,
        "init": origin.name if origin else None,
        "judge": f"{model_name(judge.folder)} {fingerprint(judge.folder)}" if judge else None,
        "judge_share": judge.share if judge else 1.0,
        "source_weights": knobs.weights,
        "stream": asdict(part(StreamSettings, knobs)),
    }
