"""Command ``python -m training train``: train a model and write its folder.

It trains on correct sentences or on pairs.
"""

import os
import random
import shlex
import time
from collections.abc import Mapping
from pathlib import Path

import click
from click.core import ParameterSource

from model.correction.morphemes import TABLE_VARIABLE
from model.stored.folder import (
    VOCABULARY_FILE,
    find_model_folder,
    load_vocabulary,
)
from model.text.tokenizer import Tokenizer
from training.corpus.corpus import Pair, open_corpus
from training.corpus.selection import choose_characters, copies
from training.options import command
from training.run.examples import Practised
from training.run.record import Origin
from training.run.run import Begun, Run, load_checkpoint, progress_line
from training.run.settings import Knobs, RunFiles, settings_of
from training.run.stream import Judge, PoolMaker, Stream, StreamSettings, keep_freed_memory


def _read(
    paths: tuple[Path, ...], weights: Mapping[str, float] | None = None, seed: int = 0
) -> list[Practised]:
    """Sentences as strings and pairs as tuples; skipped rows are reported on standard error.

    A row comes as often as the ``weights`` of its source say.
    """
    rng = random.Random(seed)
    items: list[Practised] = []
    for path in paths:
        for row in open_corpus(path, shown=20, longest_pair=StreamSettings.max_length).rows:
            item = (row.source, row.target) if isinstance(row, Pair) else row.text
            items += [item] * (copies(row, weights, rng) if weights else 1)
    return items


def _tokenizer(folder: Path, items: list[Practised]) -> Tokenizer:
    """The run's own vocabulary where it has begun, so that ids never move; else one for these items."""
    path = folder / "model" / VOCABULARY_FILE
    if path.exists():
        return load_vocabulary(path)
    return Tokenizer(choose_characters(item if isinstance(item, str) else item[1] for item in items))


SHAPE_OPTIONS = ("architecture", "d_model", "num_heads", "dropout", "norm_first")
GROWING_OPTIONS = ("dff", "num_layers")  # a model can also be continued with more of these


def _origin(context: click.Context, init: str | None) -> Origin | None:
    if init is None:
        return None

    def given(options: tuple[str, ...]) -> list[str]:
        return [each for each in options if context.get_parameter_source(each) is ParameterSource.COMMANDLINE]

    if shape := given(SHAPE_OPTIONS):
        raise click.UsageError(f"with --init the shape comes from that model; leave out {shape}")
    try:
        return Origin.load(init).grown(**{each: context.params[each] for each in given(GROWING_OPTIONS)})
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _judge(model: str | None, share: float, tokenizer: Tokenizer) -> Judge | None:
    if model is None:
        return None
    judge = Judge(find_model_folder(model), share)
    if judge.tokenizer.characters != tokenizer.characters:
        raise click.UsageError(f"--judge {model!r} has another vocabulary than the model to train")
    return judge


def _command_line(context: click.Context) -> str:
    """The command as it could be typed again elsewhere: the given options, files without their folders."""
    words = ["python -m training train"]
    for option in context.command.params:
        if context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            value = context.params[option.name]
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, bool):
                    words.append(option.opts[0] if one else option.secondary_opts[0])
                else:
                    is_path = isinstance(option.type, click.Path) or option.name in ("init", "judge")
                    words += [option.opts[0], shlex.quote(Path(one).name if is_path else str(one))]
    return " ".join(words)


@command("train", files=RunFiles, knobs=Knobs)
@click.pass_context
def train(context: click.Context, /, files: RunFiles, knobs: Knobs) -> None:
    """Train a corrector; run the same command again to continue after a stop."""
    keep_freed_memory()
    if not files.corpus and not files.pairs:
        raise click.UsageError("give --corpus with correct sentences, or --pairs with pairs of your own")
    begun, out = time.monotonic(), files.out
    if files.morphemes:
        os.environ[TABLE_VARIABLE] = str(files.morphemes)
    origin = _origin(context, files.init)
    items = _read((*files.corpus, *files.pairs), knobs.weights, knobs.seed)
    dev_items = _read((files.dev,)) if files.dev else []
    tokenizer = origin.tokenizer if origin else _tokenizer(out, items)
    picks = _judge(files.judge, knobs.judge_share, tokenizer)
    network = origin.config if origin else knobs.network(tokenizer.vocab_size)
    chosen = settings_of(knobs, files, network, origin, picks)
    start = load_checkpoint(out).position
    # Its processes begin before anything loads the network library: then they can be forked.
    with Stream(PoolMaker(items, tokenizer, knobs, picks), start, knobs.workers) as batches:
        begun_as = Begun(network, origin, chosen, _command_line(context))
        run = Run(out, knobs, tokenizer, dev_items, begun_as)
        click.echo(
            f"{run.network.count_params():,} parameters, {len(items):,} sentences, "
            f"step {run.progress.step:,} of {knobs.steps:,}",
            err=True,
        )
        left = knobs.minutes and 60 * knobs.minutes - (time.monotonic() - begun)
        with progress_line(knobs.steps, run.progress.step) as show:
            run.train(batches, show, left)
    click.echo(f"{out / 'model'}")
