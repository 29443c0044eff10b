"""``python -m training.ship.copy FROM TO``: copy a model's weights with their record, or one file."""

import json
import shutil
from pathlib import Path

import click

from model.stored.folder import fingerprint, read_config, set_minimum_confidence

COPIED = ("config.json", "vocabulary.txt", "weights.npz", "run.json", "history.csv", "corpus.csv")


@click.command("copy")
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--minimum", type=click.FloatRange(0, 1), help="The minimum confidence of the copy.")
@click.option("--keep-minimum", is_flag=True, help="Keep the minimum confidence of the model in TARGET.")
@click.option("--name", help="What the documents call these weights.")
@click.option(
    "--numbers", type=click.Path(file_okay=False, path_type=Path), help="Gets weights.json: the name."
)
def command(source, target, minimum, keep_minimum, name, numbers):
    """Copy SOURCE to TARGET: a file, or of a model's folder what belongs to the weights."""
    if source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        return
    if minimum is None and keep_minimum and (target / "config.json").is_file():
        minimum = read_config(target).minimum_confidence
    target.mkdir(parents=True, exist_ok=True)
    for each in COPIED:
        if (source / each).is_file():  # a run may lack corpus.csv, which the shipped folder then keeps
            shutil.copyfile(source / each, target / each)
    if minimum is not None:
        set_minimum_confidence(target, minimum)
    if numbers is not None:
        numbers.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"name": name, "fingerprint": fingerprint(target)}, indent=1, ensure_ascii=False)
        (numbers / "weights.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    command(prog_name="python -m training.ship.copy")
