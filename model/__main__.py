"""``python -m model correct``: corrections on the command line; ``remember`` keeps one for the app's start."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict

import click

from model.corrector import DEFAULT_MODEL, Correction, Corrector
from model.folder import ASSETS, ModelFolderError, find_model_folder, list_models
from model.quiet import hide_log_lines
from model.remembered import FILE, NotOneSentenceError, remember
from model.trace import AttentionTrace


@click.group()
def main():
    """Correct Korean spelling, and see what the network looked at."""


@main.command()
@click.argument("text", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, with changes and attention.")
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="A folder in assets/, or a path.")
@click.option(
    "--minimum-confidence",
    type=click.FloatRange(0, 1),
    help="Leave changes undone that are less probable. [default: the model's own]",
)
@click.option(
    "--beam-width", type=click.IntRange(min=1), default=1, show_default=True, help="More is slower."
)
def correct(text, as_json, model, minimum_confidence, beam_width):
    """Correct TEXT, or standard input line by line: one line out for each line in, in order."""
    for stream in (sys.stdin, sys.stdout):  # bytes that are no UTF-8 come out as they went in
        stream.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
    corrector = _load(model, minimum_confidence, beam_width)
    for number, line in enumerate([text] if text is not None else _input_lines(), start=1):
        correction = corrector.correct(line)
        for sentence in correction.sentences:
            if sentence.too_long:
                click.echo(
                    f"line {number}: a sentence of {len(sentence.source)} characters was left as it is; "
                    f"{corrector.config.max_length} are allowed",
                    err=True,
                )
        print(_to_json(correction) if as_json else correction.text, flush=True)


@main.command("remember")
@click.argument("text")
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="A folder in assets/, or a path.")
def remember_text(text, model):
    """Keep the answer to TEXT, one sentence, beside the weights: the app shows it while the model loads.

    To be run again when the weights change; until then the app waits for the model.
    """
    folder = find_model_folder(model)
    try:
        remember(_load(model), text, folder)
    except NotOneSentenceError as error:
        raise click.ClickException(f"TEXT {error}") from error
    click.echo(folder / FILE)


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
    for line in sys.stdin:
        yield line.removesuffix("\n")


def _to_json(correction: Correction) -> str:
    sentences = [
        {
            "start": sentence.start,
            "source": sentence.source,
            "text": sentence.text,
            "too_long": sentence.too_long,
            "changes": [asdict(change) for change in sentence.changes],
            **({} if sentence.too_long else _attention(sentence.trace)),
        }
        for sentence in correction.sentences
    ]
    return json.dumps(
        {"source": correction.source, "text": correction.text, "sentences": sentences}, ensure_ascii=False
    )


def _attention(trace: AttentionTrace) -> dict:
    # Five decimals: the weights are float32 sums of float16 parameters, more digits would be noise.
    return {
        "source_tokens": trace.source_tokens,
        "target_tokens": trace.target_tokens,
        "decoder_input_tokens": trace.decoder_input_tokens,
        "log_probabilities": trace.log_probabilities.round(5).tolist(),
        **{kind: trace.attention(kind).astype(float).round(5).tolist() for kind in trace.kinds},
    }


if __name__ == "__main__":
    hide_log_lines()
    main(prog_name="python -m model")
