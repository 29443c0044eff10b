"""Command ``python -m training.ship.copy``: copy a model's weights and record.

Of several models it copies the best.
"""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from model.stored.folder import fingerprint, read_config, set_minimum_confidence
from training.measure.report import write_numbers
from training.options import FOLDER, PATH, SHARE, command, knob
from training.run.record import add_graph

COPIED = ("config.json", "vocabulary.txt", "weights.npz", "run.json", "history.csv", "corpus.csv")


def copy_model(source: Path, target: Path) -> None:
    """Copy the files of a model's folder that belong to the weights, and write its graph.

    A file that ``source`` lacks stays in ``target``: a run has no corpus.csv. Raises OSError where ``target``
    cannot be written.
    """
    target.mkdir(parents=True, exist_ok=True)
    for each in COPIED:
        if (source / each).is_file():
            shutil.copyfile(source / each, target / each)
    add_graph(target)


def best_of(evaluations: dict[Path, dict[str, Any]]) -> Path:
    """The model with the highest F0.5 at its own best minimum confidence; of equal ones the one with more
    exact matches.

    >>> def at(f, exact):
    ...     return {"thresholds": [{"f0.5": f, "exact_match": exact}, {"f0.5": 0.1, "exact_match": 1.0}]}
    >>> best_of({Path("a"): at(0.9, 0.7), Path("b"): at(0.9, 0.8), Path("c"): at(0.8, 0.9)}).name
    'b'
    """

    def quality(model: Path) -> tuple[float, float]:
        return max((each["f0.5"] or 0.0, each["exact_match"]) for each in evaluations[model]["thresholds"])

    return max(evaluations, key=quality)


@dataclass(frozen=True)
class CopySettings:
    """The options of ``copy``."""

    minimum: float | None = knob(None, "The minimum confidence of the copy.", type=SHARE)
    keep_minimum: bool = knob(False, "Keep the minimum confidence of the model in TARGET.", is_flag=True)
    name: str | None = knob(None, "What the documents call these weights.")
    numbers: Path | None = knob(None, "Gets weights.json: the name.", type=FOLDER)


@command("copy", asked=CopySettings)
@click.argument("source", type=PATH)
@click.argument("target", type=click.Path(path_type=Path))
def copy(source: Path, target: Path, asked: CopySettings) -> None:
    """Copy SOURCE to TARGET: a file, or the files of a model's folder that belong to the weights."""
    if source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        return
    minimum = asked.minimum
    if minimum is None and asked.keep_minimum and (target / "config.json").is_file():
        minimum = read_config(target).minimum_confidence
    copy_model(source, target)
    if minimum is not None:
        set_minimum_confidence(target, minimum)
    if asked.numbers is not None:
        asked.numbers.mkdir(parents=True, exist_ok=True)
        weights = {"name": asked.name, "fingerprint": fingerprint(target)}
        write_numbers(asked.numbers / "weights.json", weights)


@command("choose")
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("models_and_evaluations", nargs=-1, required=True, type=PATH)
def choose(out: Path, models_and_evaluations: tuple[Path, ...]) -> None:
    """Copy to OUT the best of the models; each is followed by the JSON file that evaluate wrote of it."""
    models, evaluations = models_and_evaluations[::2], models_and_evaluations[1::2]
    read = {
        model: json.loads(path.read_text("utf-8")) for model, path in zip(models, evaluations, strict=True)
    }
    best = best_of(read)
    copy_model(best, out)
    click.echo(f"{best} is the best of {len(models)}")


main = click.Group("copy", [copy, choose], help="Copy models.")

if __name__ == "__main__":
    main(prog_name="python -m training.ship.copy")
