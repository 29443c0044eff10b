"""``python -m training train``: clean sentences in, a model folder out."""

import os
import random
import shlex
from collections.abc import Mapping
from pathlib import Path

import click
from click.core import ParameterSource

from model.folder import (
    ARCHITECTURES,
    VOCABULARY_FILE,
    ModelFolderError,
    find_model_folder,
    load_vocabulary,
)
from model.tokenizer import Tokenizer
from training.checkpoint import CheckpointError
from training.corpus import CorpusError, Pair, Sentence, read_corpus
from training.judge import Judge
from training.network import OPTIMIZERS, PRECISIONS, keep_freed_memory
from training.noise.pairs import read_mix
from training.progress import ProgressLine
from training.run import Run
from training.schedule import SCHEDULES
from training.settings import Origin, training_config
from training.sources import copies, read_weights
from training.stream import StreamSettings, read_widths
from training.vocabulary import choose_characters


def _read(paths: tuple[str, ...], weights: Mapping[str, float] | None = None, seed: int = 0) -> list:
    """Sentences as strings and pairs as tuples; what had to be skipped is said on standard error.

    A sentence comes as often as the ``weights`` of its source say.
    """
    rng = random.Random(seed)
    items = []
    for path in paths:
        try:
            corpus = read_corpus(path)
            if corpus.holds_pairs:  # somebody wrote these by hand: a row that is lost should be named
                corpus = corpus.up_to(StreamSettings.max_length)
        except CorpusError as error:
            raise click.ClickException(str(error)) from error
        if corpus.problems:
            click.echo(corpus.problem_summary(shown=20), err=True)
        for row in corpus.rows:
            item = (row.source, row.target) if isinstance(row, Pair) else row.text
            items += [item] * (copies(row, weights, rng) if weights and isinstance(row, Sentence) else 1)
    return items


def _tokenizer(folder: Path, items: list) -> Tokenizer:
    """The run's own vocabulary where it has begun, so that ids never move; else one for these items."""
    path = folder / "model" / VOCABULARY_FILE
    if path.exists():
        return load_vocabulary(path)
    return Tokenizer(choose_characters(item if isinstance(item, str) else item[1] for item in items))


SHAPE_OPTIONS = ("architecture", "d_model", "num_layers", "num_heads", "dropout", "norm_first")


def _origin(context: click.Context, init: str | None) -> Origin | None:
    if init is None:
        return None

    def is_given(option: str) -> bool:
        return context.get_parameter_source(option) is ParameterSource.COMMANDLINE

    if given := [option for option in SHAPE_OPTIONS if is_given(option)]:
        raise click.UsageError(f"with --init the shape comes from that model; leave out {given}")
    try:
        origin = Origin.load(init)
        return origin.widened(context.params["dff"]) if is_given("dff") else origin
    except ModelFolderError as error:
        raise click.ClickException(str(error)) from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _judge(model: str | None, share: float, tokenizer: Tokenizer) -> Judge | None:
    if model is None:
        return None
    try:
        judge = Judge(find_model_folder(model), share)
    except ModelFolderError as error:
        raise click.ClickException(str(error)) from error
    if judge.tokenizer.characters != tokenizer.characters:
        raise click.UsageError(f"--judge {model!r} has another vocabulary than the model to train")
    return judge


def _command_line(context: click.Context) -> str:
    """The command as it could be typed again elsewhere: options that were given, files without their folders."""
    words = ["python -m training train"]
    for option in context.command.params:
        if context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            value = context.params[option.name]
            if isinstance(value, dict):
                value = tuple(f"{name}={number:g}" for name, number in value.items())
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, bool):
                    words.append(option.opts[0] if one else option.secondary_opts[0])
                else:
                    is_path = isinstance(option.type, click.Path) or option.name in ("init", "judge")
                    words += [option.opts[0], shlex.quote(Path(one).name if is_path else str(one))]
    return " ".join(words)


def _read_weights(_context, _option, texts: tuple[str, ...]) -> dict[str, float]:
    try:
        return read_weights(texts)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _check_mix(_context, _option, text: str) -> str:
    try:
        read_mix(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    return text


def _check_widths(_context, _option, text: str) -> str:
    try:
        StreamSettings(widths=read_widths(text))
    except ValueError as error:
        raise click.BadParameter(f"{text!r}: {error}") from error
    return text


@click.command()
@click.option(
    "--corpus", multiple=True, type=click.Path(exists=True), help="Correct sentences: .jsonl or .txt."
)
@click.option(
    "--pairs", multiple=True, type=click.Path(exists=True), help="Pairs of your own: CSV with src,tgt."
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    callback=_read_weights,
    help="How often sentences of sources with this in their name are read: legalize=0.25; mt: machine-translated.",
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
@click.option("--architecture", default="transformer", type=click.Choice(ARCHITECTURES), show_default=True)
@click.option("--d-model", default=128, show_default=True)
@click.option("--num-layers", default=4, show_default=True)
@click.option("--num-heads", default=4, show_default=True)
@click.option("--dff", default=512, show_default=True, help="With --init: make that model wider.")
@click.option("--dropout", default=0.0, show_default=True)
@click.option("--norm-first/--norm-last", default=True, show_default=True)
@click.option("--label-smoothing", default=0.0, show_default=True)
@click.option("--batch-tokens", default=4096, show_default=True)
@click.option(
    "--widths",
    default="",
    callback=_check_widths,
    help="How many tokens wide batches may be, as in 16,32,64,164: few shapes for a backend that compiles each (JAX).",
)
@click.option("--optimizer", default="adam", type=click.Choice(OPTIMIZERS), show_default=True)
@click.option(
    "--precision",
    default="float32",
    type=click.Choice(PRECISIONS),
    show_default=True,
    help="Of matrix products; bfloat16 is faster where the processor has AVX512_BF16 or AMX.",
)
@click.option(
    "--strength", default=1.0, show_default=True, help="How often errors are made, times the usual."
)
@click.option(
    "--mix", default="", callback=_check_mix, help="Shares of error families, in percent: typing=35,clean=5."
)
@click.option("--rare-copies", default=0, show_default=True, help="More pairs of rare native mistakes.")
@click.option(
    "--drill-share",
    default=0.0,
    show_default=True,
    help="Share of sentences beside which a native phrase is drilled.",
)
@click.option(
    "--name-share", default=0.0, show_default=True, help="Share of sentences that get a made-up name."
)
@click.option(
    "--aim-share",
    default=0.0,
    show_default=True,
    help="Share of sentences that are mistyped in their rarer words more often.",
)
@click.option(
    "--laugh-share",
    default=0.0,
    show_default=True,
    help="Share of sentences that get ㅋㅋ, ㅠㅠ or the like.",
)
@click.option(
    "--hearsay-share",
    default=0.0,
    show_default=True,
    help="Share of sentences that are told as hearsay (했대), where they can be.",
)
@click.option(
    "--space-share",
    default=0.0,
    show_default=True,
    help="Share of sentences with some of the commonest spacing mistakes, whatever else is wrong.",
)
@click.option(
    "--space-drill-share",
    default=0.0,
    show_default=True,
    help="Share of sentences beside which a phrase with one of these is drilled.",
)
@click.option(
    "--everyday-share",
    default=0.0,
    show_default=True,
    help="Share of sentences beside which one is put together from everyday words.",
)
@click.option(
    "--judge", help="A small model (name in assets/, or folder) that picks the pairs worth training on."
)
@click.option(
    "--judge-share",
    default=0.3,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Share of the pairs that the judge keeps for their loss.",
)
@click.option("--seed", default=0, show_default=True)
@click.option("--workers", default=1, show_default=True, help="Processes that make pairs.")
@click.option("--history-every", default=50, show_default=True)
@click.option("--checkpoint-every", default=250, show_default=True)
@click.option("--dev-every", default=1000, show_default=True)
@click.option(
    "--snapshot-drop",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Keep the weights each time the loss has fallen by this share, to watch the network grow up.",
)
@click.option(
    "--snapshot-every",
    type=click.IntRange(min=1),
    help="Keep the weights after each so many steps, to average them: average --last.",
)
@click.pass_context
def train(
    context,
    corpus,
    pairs,
    dev,
    out,
    init,
    judge,
    judge_share,
    workers,
    history_every,
    checkpoint_every,
    dev_every,
    snapshot_drop,
    snapshot_every,
    **options,
):
    """Train a corrector; run the same command again to continue after a stop."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    keep_freed_memory()
    if not corpus and not pairs:
        raise click.UsageError("give --corpus with correct sentences, or --pairs with pairs of your own")
    items = _read((*corpus, *pairs), options["weights"], options["seed"])
    dev_items = _read((dev,)) if dev else []
    origin = _origin(context, init)
    tokenizer = origin.tokenizer if origin else _tokenizer(Path(out), items)
    picks = _judge(judge, judge_share, tokenizer)
    config = training_config(options, (*corpus, *pairs), dev, tokenizer.vocab_size, origin, picks)
    try:
        run = Run(Path(out), config, tokenizer, items, dev_items, origin, picks, _command_line(context))
    except CheckpointError as error:
        raise click.ClickException(str(error)) from error
    click.echo(
        f"{run.network.count_params():,} parameters, {len(items):,} sentences, "
        f"step {run.progress.step:,} of {config.schedule.steps:,}",
        err=True,
    )
    with ProgressLine(config.schedule.steps, run.progress.step) as line:
        keep = snapshot_drop, snapshot_every
        run.train(line.show, history_every, checkpoint_every, dev_every, workers, *keep)
    click.echo(f"{Path(out) / 'model'}")
