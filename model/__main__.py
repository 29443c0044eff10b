"""``python -m model correct``: corrections on the command line; ``remember`` keeps one for the app's start."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict

import click

from model.changes import Change
from model.corrector import DEFAULT_MODEL, Correction, Corrector
from model.folder import ModelFolderError, find_model_folder
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
@click.option("--suggest", is_flag=True, help="Below a line, also the changes that were not sure enough.")
def correct(text, as_json, model, minimum_confidence, beam_width, suggest):
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
        print(_to_json(correction, suggest) if as_json else correction.text, flush=True)
        if suggest and not as_json:
            for change in _undone(correction):
                print(_suggestion(change, correction.source), flush=True)


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
        raise click.ClickException(str(error)) from error


def _input_lines() -> Iterator[str]:
    # Only "\n" ends a line: whatever else a line holds (form feeds, U+2028), it stays one line.
    for line in sys.stdin:
        yield line.removesuffix("\n")


def _undone(correction: Correction) -> list[Change]:
    """The proposed changes that were not made; offsets in the whole source."""
    made = {(change.source_start, change.source_end) for change in correction.changes}
    return [each for each in correction.proposed if (each.source_start, each.source_end) not in made]


def _suggestion(change: Change, source: str) -> str:
    """``  1-3 니미 → 님이  in 손니미  confidence 0.61 (fix 0.70, keep 0.13)``; a space is ␣."""
    wrong, right = (text.replace(" ", "␣") or "∅" for text in (change.wrong, change.right))
    start = source.rfind(" ", 0, change.source_start) + 1
    end = source.find(" ", change.source_end)
    word = source[start : end if end >= 0 else None]
    return (
        f"  {change.source_start}-{change.source_end} {wrong} → {right}  in {word}  confidence {change.confidence:.2f} "
        f"(fix {change.fix_probability:.2f}, keep {change.keep_probability:.2f})"
    )


def _to_json(correction: Correction, suggest: bool = False) -> str:
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
    document = {"source": correction.source, "text": correction.text, "sentences": sentences}
    if suggest:
        document["suggestions"] = [
            asdict(change) | {"confidence": change.confidence} for change in _undone(correction)
        ]
    return json.dumps(document, ensure_ascii=False)


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
    main(prog_name="python -m model")
