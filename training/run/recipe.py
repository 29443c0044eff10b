"""``python -m training recipe``: trains from nothing, stage by stage, as ``recipe.toml`` says."""

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import click

RECIPE = Path(__file__).with_name("recipe.toml")


class RecipeError(ValueError):
    """A recipe that cannot be used; the message says why."""

    def __init__(self, error: Exception):
        super().__init__(f"a recipe has data, stages, and their names and steps; missing or odd: {error}")


def stage_arguments(recipe: dict, folder: Path, out: Path, workers: int = 1) -> list[list[str]]:
    """For each stage the arguments of ``python -m training``. Raises RecipeError for what is no recipe."""
    try:
        data, stages = recipe["data"], recipe["stage"]
        files = [f"--corpus={folder / name}" for name in data["corpus"]]
        files += [f"--weight={name}={weight}" for name, weight in recipe.get("weights", {}).items()]
        files += [f"--dev={folder / data['dev']}"]
        arguments: list[list[str]] = []
        before: Path | None = None
        for stage in stages:
            options = {**recipe.get("all", {}), **stage}
            own = out / options.pop("name")
            given = [f"--{name}={value}" for name, value in options.items()]
            start = [f"--init={before}"] if before else []
            arguments.append(["train", *files, *start, f"--out={own}", f"--workers={workers}", *given])
            before = own
    except (KeyError, TypeError, AttributeError) as error:
        raise RecipeError(error) from error
    return arguments


def shortened(recipe: dict, share: float) -> dict:
    """The same recipe with that share of the steps of every stage, one at least. Raises RecipeError for what is no recipe."""
    try:
        stages = [{**stage, "steps": max(1, round(stage["steps"] * share))} for stage in recipe["stage"]]
    except (KeyError, TypeError) as error:
        raise RecipeError(error) from error
    return {**recipe, "stage": stages}


@click.command("recipe")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="For all stages."
)
@click.option(
    "--recipe", "path", default=RECIPE, type=click.Path(exists=True, path_type=Path), help="Another one."
)
@click.option(
    "--share", default=1.0, type=click.FloatRange(0, min_open=True), help="Of the steps, to rehearse."
)
@click.option("--workers", default=1, show_default=True, help="Processes that make pairs.")
@click.option("--show", is_flag=True, help="Print the commands and run none.")
def command(folder, out, path, share, workers, show):
    """Train from nothing on the files in FOLDER; run the same command again to continue after a stop."""
    try:
        recipe = tomllib.loads(path.read_text("utf-8"))
        stages = stage_arguments(shortened(recipe, share), folder, out, workers)
    except (tomllib.TOMLDecodeError, RecipeError) as error:
        raise click.ClickException(f"{path}: {error}") from error
    for arguments in stages:
        click.echo(f"python -m training {shlex.join(arguments)}")
        if show:
            continue
        if subprocess.run([sys.executable, "-m", "training", *arguments], check=False).returncode:
            raise click.ClickException("this stage ended early; the stages after it were not begun")
