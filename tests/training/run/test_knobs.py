"""Settings of a command as options: defaults, refused values, those of training."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from training.__main__ import main
from training.options import command, knob, options_of, part, read_options
from training.run.settings import Knobs
from training.run.stream import StreamSettings
from training.run.train import train


def read_pair(text: str) -> tuple[int, int]:
    first, second = map(int, text.split(",")) if text else (0, 1)
    return first, second


@dataclass(frozen=True)
class Base:
    pair: tuple[int, int] = knob((0, 1), "Two numbers that rise.", parse=read_pair)
    inner: int = 3  # no knob

    def __post_init__(self):
        if self.pair[0] >= self.pair[1]:
            raise ValueError(f"pair should rise, received {self.pair}")


@dataclass(frozen=True)
class Whole(Base):
    rate: float = knob(0.5, type=click.FloatRange(0, 1))
    names: Mapping[str, None] = knob(
        dict, parse=lambda texts: dict.fromkeys(texts), option="--name", multiple=True
    )
    loud: bool = knob(True, option="--loud/--quiet")


def run(*arguments: str):
    """The settings a command reads from these arguments, and its output."""
    read = []

    @command("whole", asked=Whole)
    def whole(asked):
        read.append(asked)

    return read, CliRunner().invoke(whole, arguments).output


def test_what_is_not_given_is_the_default():
    assert run()[0] == [Whole()]
    assert run("--rate=0.1", "--name=a", "--name=b", "--quiet", "--pair=2,5")[0] == [
        Whole(rate=0.1, names={"a": None, "b": None}, loud=False, pair=(2, 5))
    ]


@pytest.mark.parametrize("wrong", ["--pair=5,2", "--pair=five,six", "--rate=2", "--inner=4"])
def test_what_cannot_be_is_a_message(wrong):
    read, said = run(wrong)
    assert not read
    assert wrong.partition("=")[2] in said or wrong.partition("=")[0] in said


def test_the_command_has_an_option_for_each_knob_and_the_defaults_agree():
    derived = {option.name for option in options_of(Knobs)}
    assert derived < {option.name for option in train.params}
    plain = {each.name for each in fields(Knobs)} - derived
    assert plain == {"max_length", "join_share", "outside_share", "pool_sentences"}
    given = {option.name: option.get_default(click.Context(train)) for option in options_of(Knobs)}
    read, default = read_options(Knobs, given), Knobs()
    unequal = {f.name for f in fields(Knobs) if getattr(read, f.name) != getattr(default, f.name)}
    assert unequal == {"mix"}  # on the command line in percent
    assert part(StreamSettings, default) == StreamSettings()


@pytest.mark.parametrize("name", ["evaluate pairs.csv", "lesson", "stories", "development"])
def test_a_missing_model_is_a_message(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text("src,tgt\n가,가\n", encoding="utf-8")
    result = CliRunner().invoke(main, [*name.split(), "--model", "nowhere"])
    assert result.exit_code == 1
    assert result.output.startswith("Error: ") and "nowhere" in result.output
