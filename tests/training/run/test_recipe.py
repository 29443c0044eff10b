import itertools
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from training.__main__ import main
from training.run import pack as module
from training.run.pack import RECIPE, RecipeError, shortened, stage_arguments
from training.run.train import train

SHIPPED = tomllib.loads(RECIPE.read_text("utf-8"))


def test_every_stage_starts_from_the_one_before():
    stages = stage_arguments(SHIPPED, Path("corpus"), Path("runs/again"))
    assert len(stages) == len(SHIPPED["stage"]) >= 2
    assert not any(argument.startswith("--init") for argument in stages[0])
    for before, after in itertools.pairwise(stages):
        (out,) = (each.removeprefix("--out=") for each in before if each.startswith("--out="))
        assert f"--init={out}" in after


def test_a_stage_has_its_own_options_and_those_of_all():
    recipe = {
        "data": {"corpus": ["a.txt"], "dev": "d.txt"},
        "weights": {"law": 0.25},
        "all": {"peak": 1, "seed": 1},
        "stage": [{"name": "one", "steps": 5, "seed": 2}],
    }
    (arguments,) = stage_arguments(recipe, Path("f"), Path("o"), workers=3)
    assert arguments[0] == "train"
    wanted = {"--corpus=f/a.txt", "--dev=f/d.txt", "--weight=law=0.25", "--out=o/one", "--peak=1", "--seed=2"}
    assert wanted | {"--steps=5", "--workers=3"} == set(arguments[1:])


def test_the_train_command_knows_every_option():
    known = {option for parameter in train.params for option in parameter.opts}
    for stage in stage_arguments(SHIPPED, Path("f"), Path("o")):
        assert {argument.split("=")[0] for argument in stage[1:]} <= known


def test_a_rehearsal_takes_fewer_steps():
    short = shortened(SHIPPED, 0.001)
    assert [stage["steps"] for stage in short["stage"]] == [
        max(1, round(stage["steps"] / 1000)) for stage in SHIPPED["stage"]
    ]


@pytest.mark.parametrize("recipe", [{}, {"data": {}}, {"data": {"corpus": [], "dev": ""}, "stage": [{}]}])
def test_what_is_no_recipe_is_refused(recipe):
    with pytest.raises(RecipeError):
        stage_arguments(recipe, Path("f"), Path("o"))


@pytest.mark.parametrize(
    "stage", ['[stage]\nname = "one"', '[[stage]]\nname = "one"\nsteps = "5"', "stage = 3"]
)
def test_a_file_that_is_no_recipe_is_named(stage, tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text(f'[data]\ncorpus = ["a.txt"]\ndev = "d.txt"\n{stage}\n', encoding="utf-8")
    result = CliRunner().invoke(
        main, ["recipe", str(tmp_path), "--out", str(tmp_path), "--recipe", str(path)]
    )
    assert result.exit_code == 1 and f"Error: {path}: a recipe has data, stages" in result.output


def test_stages_run_in_order_until_one_fails(tmp_path, monkeypatch):
    begun = []

    def run(command, check):
        begun.append(next(each for each in command if each.startswith("--out=")))
        return type("Done", (), {"returncode": len(begun) == 2})

    monkeypatch.setattr(module.subprocess, "run", run)
    result = CliRunner().invoke(main, ["recipe", str(tmp_path), "--out", str(tmp_path / "o")])
    assert result.exit_code == 1 and "ended early" in result.output
    assert [name.rpartition("/")[2] for name in begun] == ["begin", "plateau"]
    shown = CliRunner().invoke(main, ["recipe", str(tmp_path), "--out", "o", "--show"])
    assert shown.exit_code == 0 and len(shown.output.splitlines()) == 3 and len(begun) == 2
