"""``python -m training.ship.choose OUT MODEL EVALUATION …``: copy the model that corrects best."""

import json
from pathlib import Path

import click

from training.ship.copy import copy_model

PATH = click.Path(exists=True, path_type=Path)


def best_of(evaluations: dict[Path, dict]) -> Path:
    """The model with the highest F0.5 at its own best minimum confidence; of equal ones the one with more exact matches.

    >>> def at(f, exact):
    ...     return {"thresholds": [{"f0.5": f, "exact_match": exact}, {"f0.5": 0.1, "exact_match": 1.0}]}
    >>> best_of({Path("a"): at(0.9, 0.7), Path("b"): at(0.9, 0.8), Path("c"): at(0.8, 0.9)}).name
    'b'
    """

    def quality(model: Path) -> tuple[float, float]:
        return max((each["f0.5"] or 0.0, each["exact_match"]) for each in evaluations[model]["thresholds"])

    return max(evaluations, key=quality)


@click.command("choose")
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("models_and_evaluations", nargs=-1, required=True, type=PATH)
def command(out, models_and_evaluations):
    """Copy to OUT the best of the models; behind each stands the JSON file that evaluate wrote of it."""
    models, evaluations = models_and_evaluations[::2], models_and_evaluations[1::2]
    read = {
        model: json.loads(path.read_text("utf-8")) for model, path in zip(models, evaluations, strict=True)
    }
    best = best_of(read)
    copy_model(best, out)
    click.echo(f"{best} is the best of {len(models)}")


if __name__ == "__main__":
    command(prog_name="python -m training.ship.choose")
