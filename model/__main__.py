"""Command line of ``python -m model``: ``correct``, ``heads`` and ``export``."""

import math
import os
import re
import sys
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

import click

from model.correction.corrector import Corrector
from model.stored.folder import ASSETS, DEFAULT_MODEL, ModelFolderError, find_model_folder, list_models
from model.tables.command import LAYOUTS, correct_table
from model.terminal import as_json_line, hide_log_lines, input_lines, suggestion, undone, waiting


@click.group()
def main() -> None:
    """Correct Korean spelling, and see the attention of the network."""


class Share(click.FloatRange):
    """A number in 0..1 without nan, which ``click.FloatRange`` takes."""

    def __init__(self) -> None:
        super().__init__(0, 1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number; click reports any other value.

        >>> Share().convert("0.25", None, None)
        0.25
        """
        found = super().convert(value, param, ctx)
        return self.fail("nan is no number from 0 to 1", param, ctx) if math.isnan(found) else found


class TakesText(click.Command):
    """A command whose text may begin with a hyphen: "-네, 알겠습니다".

    No option holds a space or begins like this.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        texts = [arg for arg in args if _TEXT_WITH_A_HYPHEN.match(arg)] if "--" not in args else []
        others = [arg for arg in args if arg not in texts]
        return super().parse_args(ctx, [*others, *(["--", *texts] if texts else [])])


_TEXT_WITH_A_HYPHEN = re.compile(r"-+[^-A-Za-z0-9]|-[^-=\s]*\s")


@main.command(cls=TakesText)
@click.argument("text", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, with the changes.")
@click.option("--attention", is_flag=True, help="With --json: the tokens and the attention, too.")
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="A folder in assets/, or a path.")
@click.option(
    "--minimum-confidence",
    type=Share(),
    help="Leave changes undone that are less probable. [default: the model's own]",
)
@click.option(
    "--beam-width", type=click.IntRange(min=1), default=1, show_default=True, help="More is slower."
)
@click.option(
    "--csv",
    "table",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A CSV, TXT or XLSX file of texts, a row each, instead of TEXT. Needs --out.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the corrected rows go, .csv, .txt or .xlsx. An interrupted run goes on there.",
)
@click.option(
    "--layout",
    type=click.Choice(LAYOUTS),
    help="Of --out: the same file with the corrected texts beside the others or in their place, or a report "
    "with the kinds of changes. [default: beside; report from one format to another]",
)
@click.option(
    "--column",
    help="Of --csv: its header, or its number from 1. [default: text, src, 문장 …, or the only one]",
)
@click.option(
    "--words",
    type=click.File(encoding="utf-8"),
    help="A file of words that are left alone with their particles, one a line; * is any letters.",
)
@click.option("--suggest", is_flag=True, help="Below a line, also the changes that were not sure enough.")
def correct(
    text: str | None,
    as_json: bool,
    attention: bool,
    model: str,
    minimum_confidence: float | None,
    beam_width: int,
    table: Path | None,
    out: Path | None,
    layout: str | None,
    column: str | None,
    words: TextIO | None,
    suggest: bool,
) -> None:
    """Correct TEXT, or standard input line by line: one line out for each line in, in order. With --csv and
    --out, correct a file row by row.
    \f

    Raises:
        click.UsageError: for options that do not fit together.
    """
    if (table is None) != (out is None) or (table and (text is not None or as_json or suggest)):
        raise click.UsageError("--csv and --out come together, without TEXT, --json and --suggest")
    if (column is not None or layout is not None) and not table:
        raise click.UsageError("--column and --layout need --csv")
    if attention and not as_json:
        raise click.UsageError("--attention needs --json")
    corrector = _load(model, minimum_confidence, beam_width)
    if words is not None:
        try:
            corrector = corrector.with_words(words)
        except ValueError as error:  # among them bytes that are no UTF-8
            raise click.UsageError(f"--words: {error}") from error
    if table and out:
        correct_table(corrector, table, out, column, layout)
        return
    for stream in (sys.stdin, sys.stdout):  # bytes that are no UTF-8 come out as they went in
        assert isinstance(stream, TextIOWrapper), "as Python opens them"
        stream.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
    batches = [[text]] if text is not None else waiting(input_lines())
    corrections = (each for batch in batches for each in corrector.correct_batch(batch))
    for number, correction in enumerate(corrections, start=1):
        for sentence in correction.sentences:
            if sentence.too_long:
                click.echo(
                    f"line {number}: a sentence of {len(sentence.source)} characters was left as it is; "
                    f"{corrector.config.max_length} are allowed",
                    err=True,
                )
        print(as_json_line(correction, suggest, attention) if as_json else correction.text, flush=True)
        if suggest and not as_json:
            for change in undone(correction):
                print(suggestion(change, correction), flush=True)


def _count(name: str, default: int, help: str) -> Callable:
    """An option for a number of sentences; 0 for none."""
    return click.option(name, type=click.IntRange(min=0), default=default, show_default=True, help=help)


@main.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="A folder.")
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="A folder in assets/, or a path.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first so many lines of FILE.")
@_count("--effects", 500, "Sentences with changes whose heads are removed in turn.")
@_count("--pruning", 200, "Sentences judged as more and more heads are removed.")
@_count(
    "--answers",
    0,
    "Sentences with changes whose fixes are attributed to parts, directly and by ablation: answers.json.",
)
@_count("--circuits", 0, "Of them, those whose circuits are found, which takes longest.")
def heads(file: Path, out: Path, model: str, limit: int, **plan: int) -> None:
    """Survey the attention heads over the sentences of FILE: a table with the columns src and tgt, or with
    one of texts alone, or a sentence a line.

    Writes heads.json and heads.csv into the folder --out. A run that was stopped is resumed, and so is one
    with more --answers.
    \f

    Raises:
        click.ClickException: for a file that cannot be read, and a network without interventions.
    """
    from rich.progress import Progress

    from model.survey.survey import Survey, SurveyPlan, read_pairs
    from model.survey.survey_files import write_result

    corrector = _load(model)
    try:
        pairs, left_out = read_pairs(file, corrector, limit)
        survey = Survey(corrector, SurveyPlan(pairs, **plan))
        corrector.laboratory  # noqa: B018 - refuses a network without interventions before the work begins
        if plan["answers"]:
            corrector.patched  # noqa: B018 - and so is one without a residual stream
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    if left_out:
        click.echo(f"{left_out} sentences were left out: empty, or too long for the network", err=True)
    if survey.restore(out):
        click.echo("going on with the survey in the folder", err=True)
    with Progress(transient=True) as progress:
        bars = {part: progress.add_task(part, total=size) for part, size in survey.sizes.items() if size}
        for part, done in survey.run():
            progress.update(bars[part], completed=done)
            survey.save(out)
    click.echo(write_result(survey, out))


@main.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def export(folder: Path) -> None:
    """Write the graph of the model in FOLDER beside its weights: the app answers from it without TensorFlow.
    Needs ``onnx``; nothing else that answers does.
    \f

    Raises:
        click.ClickException: without ``onnx``, and for a folder that holds no model.
    """
    try:
        from model.export.graphs import write_graph
    except ImportError as error:
        raise click.ClickException(f"writing a graph needs onnx: pip install onnx ({error})") from error
    try:
        write_graph(find_model_folder(folder))
    except ModelFolderError as error:
        raise click.ClickException(str(error)) from error


def _load(model: str, minimum_confidence: float | None = None, beam_width: int = 1) -> Corrector:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    try:
        return Corrector.load(model, minimum_confidence, beam_width=beam_width)
    except ModelFolderError as error:
        message = str(error)
        if not find_model_folder(model).is_dir():
            names = ", ".join(entry.name for entry in list_models(ASSETS))
            message = f"there is no model {model!r}. Models in assets/: {names}. A path may be given, too."
        raise click.ClickException(message) from error


if __name__ == "__main__":
    hide_log_lines()
    main(prog_name="python -m model")
