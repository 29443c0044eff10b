"""The commands ``python -m model correct``, which corrects text, and ``python -m model heads``, which surveys heads."""

import json
import math
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict
from io import TextIOWrapper
from pathlib import Path
from queue import Queue
from threading import Thread

import click

from model.correction.correction import Correction
from model.correction.corrector import KEPT_CHARACTERS, Corrector
from model.correction.mending import BATCH_SENTENCES
from model.norm import article_of
from model.quiet import hide_log_lines
from model.stored.folder import ASSETS, DEFAULT_MODEL, ModelFolderError, find_model_folder, list_models
from model.tables.command import correct_table
from model.text.changes import Change, apply_changes, in_order
from model.trace.trace import AttentionTrace


@click.group()
def main():
    """Correct Korean spelling, and see what the network looked at."""


class Share(click.FloatRange):
    """A number in 0..1. ``click.FloatRange`` alone takes nan for one, since nothing is smaller or larger than it."""

    def __init__(self):
        super().__init__(0, 1)

    def convert(self, value, param, ctx):
        found = super().convert(value, param, ctx)
        return self.fail("nan is no number from 0 to 1", param, ctx) if math.isnan(found) else found


class TakesText(click.Command):
    """A command whose text may begin with a hyphen: "-네, 알겠습니다" is no option, since no option holds a space or begins so."""

    def parse_args(self, ctx, args):
        texts = [arg for arg in args if _TEXT_WITH_A_HYPHEN.match(arg)] if "--" not in args else []
        others = [arg for arg in args if arg not in texts]
        return super().parse_args(ctx, [*others, *(["--", *texts] if texts else [])])


_TEXT_WITH_A_HYPHEN = re.compile(r"-+[^-A-Za-z0-9]|-[^-=\s]*\s")


@main.command(cls=TakesText)
@click.argument("text", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, with changes and attention.")
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
    help="A CSV, TXT or XLSX file of texts, a row each, instead of TEXT. Needs --out, which keeps the other columns.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the corrected rows go, .csv or .xlsx. An interrupted run goes on there.",
)
@click.option(
    "--column",
    help="Of --csv: its header, or its number from 1. [default: text, src, 문장 …, or the only one]",
)
@click.option("--suggest", is_flag=True, help="Below a line, also the changes that were not sure enough.")
def correct(text, as_json, model, minimum_confidence, beam_width, table, out, column, suggest):
    """Correct TEXT, or standard input line by line: one line out for each line in, in order. With --csv and
    --out, correct a file row by row."""
    if (table is None) != (out is None) or (table and (text is not None or as_json or suggest)):
        raise click.UsageError("--csv and --out come together, without TEXT, --json and --suggest")
    if column is not None and not table:
        raise click.UsageError("--column needs --csv")
    if table:
        correct_table(_load(model, minimum_confidence, beam_width), table, out, column)
        return
    for stream in (sys.stdin, sys.stdout):  # bytes that are no UTF-8 come out as they went in
        assert isinstance(stream, TextIOWrapper), "as Python opens them"
        stream.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
    corrector = _load(model, minimum_confidence, beam_width)
    batches = [[text]] if text is not None else _waiting(_input_lines())
    corrections = (each for batch in batches for each in corrector.correct_batch(batch))
    for number, correction in enumerate(corrections, start=1):
        for sentence in correction.sentences:
            if sentence.too_long:
                click.echo(
                    f"line {number}: a sentence of {len(sentence.source)} characters was left as it is; "
                    f"{corrector.config.max_length} are allowed",
                    err=True,
                )
        print(_to_json(correction, suggest) if as_json else correction.text, flush=True)
        if suggest and not as_json:
            for change in _undone(correction):
                print(_suggestion(change, correction), flush=True)


def _count(name: str, default: int, help: str):
    """An option that says how many; 0 for none."""
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
    "Sentences with changes of which it is asked which part wrote each fix, and which mattered: answers.json.",
)
@_count("--circuits", 0, "Of them, those whose circuits are found, which takes longest.")
def heads(file, out, model, limit, effects, pruning, answers, circuits):
    """What each head does over the sentences of FILE: a CSV with the columns src and tgt, or a sentence a line.

    Writes heads.json and heads.csv into the folder --out. A run that was stopped goes on where it was, and so does one that is asked
    for more --answers.
    """
    from rich.progress import Progress

    from model.survey.survey import Plan, Survey
    from model.survey.survey_files import SurveyFileError, read_pairs, write_result

    corrector = _load(model)
    try:
        pairs, left_out = read_pairs(file, corrector, limit)
        survey = Survey(corrector, Plan(pairs, effects, pruning, answers=answers, circuits=circuits))
        corrector.laboratory  # noqa: B018 - a network that takes no interventions is named before the work begins
        if answers:
            corrector.patched  # noqa: B018 - and so is one without a residual stream
    except (SurveyFileError, ValueError) as error:
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
def export(folder):
    """Write the graph of the model in FOLDER beside its weights: the app answers from it without TensorFlow. Needs
    ``onnx``; nothing else that answers does."""
    try:
        from model.export.export import write_graph
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


def _input_lines() -> Iterator[str]:
    # Only "\n" ends a line: whatever else a line holds (form feeds, U+2028), it stays one line.
    is_cp949 = None  # decided by the first line with a letter beyond ASCII
    for line in sys.stdin:
        if is_cp949 is None and not line.isascii():
            is_cp949 = _in_cp949(line) is not None
        yield ((_in_cp949(line) if is_cp949 else None) or line).removesuffix("\n")


def _in_cp949(line: str) -> str | None:
    """The line whose bytes were no UTF-8, read in the Korean code page; None where they are none of that either."""
    if not any("\udc80" <= character <= "\udcff" for character in line):
        return None
    try:
        return line.encode("utf-8", "surrogateescape").decode("cp949")
    except UnicodeDecodeError:
        return None


def _waiting(lines: Iterator[str]) -> Iterator[list[str]]:
    """The lines that came while those before them were answered. So a program that waits for each answer gets it at once,
    and the lines of a file are corrected many together: at most ``BATCH_SENTENCES``, and no more than ``KEPT_CHARACTERS`` but
    for the last of them, since beyond that the passes, which hold the attention, are not kept."""
    come: Queue[str | None] = Queue(2 * BATCH_SENTENCES)

    def read() -> None:
        try:
            for line in lines:
                come.put(line)
        finally:
            come.put(None)

    Thread(target=read, daemon=True).start()
    batch: list[str] = []
    while (line := come.get()) is not None:
        batch.append(line)
        if come.empty() or len(batch) == BATCH_SENTENCES or sum(map(len, batch)) >= KEPT_CHARACTERS:
            yield batch
            batch = []
    yield batch


def _undone(correction: Correction) -> list[Change]:
    """The proposed changes that were not made; offsets in the whole source."""
    made = {(change.source_start, change.source_end) for change in correction.changes}
    return [each for each in correction.proposed if (each.source_start, each.source_end) not in made]


def _suggestion(change: Change, correction: Correction) -> str:
    """``  1-3 니미 → 님이  in 손니미  confidence 0.61 (fix 0.70, keep 0.13)``; a space is ␣.

    Where the network's own first choice was another, it follows: ``, first choice 니마``; then the article of the norm, where
    one is known for sure: ``, 한글 맞춤법 제27항``.
    """
    source = correction.source
    wrong, right = map(_visible, (change.wrong, change.right))
    start = source.rfind(" ", 0, change.source_start) + 1
    end = source.find(" ", change.source_end)
    word = source[start : end if end >= 0 else None]
    line = f"  {change.source_start}-{change.source_end} {wrong} → {right}  in {word}  {_how_sure(change)}"
    if change.instead_of is not None:
        line += f", first choice {_visible(change.instead_of)}"
    article = _article(*_if_made(change, correction))["article"]
    return line + (f", {article['article']}" if article else "")


def _how_sure(change: Change) -> str:
    if change.is_english_layout:
        return "typed in the English layout"
    return f"confidence {change.confidence:.2f} (fix {change.fix_probability:.2f}, keep {change.keep_probability:.2f})"


def _if_made(change: Change, correction: Correction) -> tuple[Change, str]:
    """A change that was not made as it would be beside those that were, and the text with all of them."""
    changes = in_order([*correction.changes, change])
    span = change.source_start, change.source_end
    placed = next(each for each in changes if (each.source_start, each.source_end) == span)
    return placed, apply_changes(correction.source, changes)


def _visible(text: str) -> str:
    return text.replace(" ", "␣") or "∅"


def _to_json(correction: Correction, suggest: bool = False) -> str:
    sentences = [
        {
            "start": sentence.start,
            "source": sentence.source,
            "text": sentence.text,
            "too_long": sentence.too_long,
            "changes": [asdict(change) | _article(change, sentence.text) for change in sentence.changes],
            **({} if sentence.too_long else _attention(sentence.trace)),
        }
        for sentence in correction.sentences
    ]
    document = {"source": correction.source, "text": correction.text, "sentences": sentences}
    if suggest:
        document["suggestions"] = [
            asdict(change)
            | {"confidence": change.confidence if change.is_weighed else None}
            | _article(*_if_made(change, correction))
            for change in _undone(correction)
        ]
    return json.dumps(document, ensure_ascii=False)


def _article(change: Change, text: str) -> dict:
    """The article of the norm that a change follows; null where none is known for sure. ``text`` is corrected."""
    before, after = text[: change.target_start], text[change.target_end :]
    article = article_of(change.wrong, change.right, before, after)
    return {"article": article and asdict(article)}


def _attention(trace: AttentionTrace) -> dict:
    # Five decimals: the weights are float32 sums of float16 parameters, more digits would be noise.
    return {
        "source_tokens": trace.source_tokens,
        "target_tokens": trace.target_tokens,
        "decoder_input_tokens": trace.decoder_input_tokens,
        "log_probabilities": None
        if trace.log_probabilities is None
        else trace.log_probabilities.round(5).tolist(),
        **{kind: trace.attention(kind).astype(float).round(5).tolist() for kind in trace.kinds},
    }


if __name__ == "__main__":
    hide_log_lines()
    main(prog_name="python -m model")
