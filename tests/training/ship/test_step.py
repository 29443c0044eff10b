"""A step is made when its commands or inputs change, or when its outputs are not what it left."""

import re
import subprocess
from io import StringIO
from pathlib import Path

import click
import pytest
from rich.console import Console

from training.ship.command import make
from training.ship.step import PYTHON, Journal, Step, digest
from training.ship.steps import ANSWERS, ROOT


@pytest.fixture
def shout(tmp_path):
    """A step that writes its input in capitals; ``word`` is the input."""
    word, loud = tmp_path / "word.txt", tmp_path / "loud.txt"
    word.write_text("hello")
    return Step("shout", "write it in capitals", (word,), (loud,), ((PYTHON, "shout", str(word), str(loud)),))


def do(command):
    _, _, source, target = command
    Path(target).write_text(Path(source).read_text().upper())


def ship(steps, tmp_path, execute=do, told=None):
    console = Console(file=told or StringIO())
    return make(steps, Journal(tmp_path / "ship.json"), console, execute)


def test_what_is_done_is_not_done_again(shout, tmp_path):
    assert ship([shout], tmp_path) == 1
    assert shout.outputs[0].read_text() == "HELLO"
    assert ship([shout], tmp_path, execute=pytest.fail) == 0


@pytest.mark.parametrize("change", ["input", "output", "command", "no output"])
def test_what_changed_is_done_again(shout, tmp_path, change):
    ship([shout], tmp_path)
    (word,), (loud,) = shout.inputs, shout.outputs
    match change:
        case "input":
            word.write_text("bye")
        case "output":
            loud.write_text("typed by hand")
        case "no output":
            loud.unlink()
        case "command":
            shout = Step(
                "shout",
                "",
                shout.inputs,
                shout.outputs,
                ((*shout.commands[0][:1], "cry", *shout.commands[0][2:]),),
            )
    assert ship([shout], tmp_path) == 1
    assert loud.read_text() == word.read_text().upper()


def test_a_new_time_of_change_is_no_change(shout, tmp_path):
    ship([shout], tmp_path)
    shout.inputs[0].touch()
    assert ship([shout], tmp_path) == 0


def test_what_keeps_the_past_is_done_once(shout, tmp_path):
    once = Step("shout", "", shout.inputs, shout.outputs, shout.commands, once=True)
    ship([once], tmp_path)
    shout.inputs[0].write_text("what came after")
    assert ship([once], tmp_path) == 0
    assert shout.outputs[0].read_text() == "HELLO"


def test_a_step_that_fails_is_begun_again_and_those_before_it_are_not(shout, tmp_path):
    second = Step(
        "again",
        "",
        shout.outputs,
        (tmp_path / "end",),
        (("", "", str(shout.outputs[0]), str(tmp_path / "end")),),
    )

    def fail_at_the_second(command):
        if command == second.commands[0]:
            raise subprocess.CalledProcessError(1, command)
        do(command)

    with pytest.raises(click.ClickException, match="again failed with status 1"):
        ship([shout, second], tmp_path, fail_at_the_second)
    assert ship([shout, second], tmp_path) == 1
    assert (tmp_path / "end").read_text() == "HELLO"


def test_a_step_without_its_input_or_its_output_is_a_message(shout, tmp_path):
    with pytest.raises(click.ClickException, match=r"shout left no .*loud\.txt"):
        ship([shout], tmp_path, lambda command: None)
    shout.inputs[0].unlink()
    with pytest.raises(click.ClickException, match=r"shout needs .*word\.txt"):
        ship([shout], tmp_path)


def test_the_digest_of_a_folder_knows_names_and_contents(tmp_path):
    folder = tmp_path / "folder"
    assert digest(folder) is None
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "a").write_text("1")
    first = digest(folder)
    (folder / "inner" / "a").rename(folder / "inner" / "b")
    second = digest(folder)
    (folder / "inner" / "b").write_text("2")
    assert len({first, second, digest(folder)}) == 3


def test_of_python_files_only_the_code_counts(tmp_path):
    path = tmp_path / "file.py"
    path.write_text('"""First."""\ndef f():\n    """Says nothing."""\n    return 1\n')
    first = digest(path)
    path.write_text('"""Better."""\n\ndef f():\n    return 1  # one\n')
    assert digest(path) == first
    path.write_text("def f():\n    return 2\n")
    assert digest(path) != first


def test_what_is_done_and_what_is_to_go_is_told(shout, tmp_path):
    journal = Journal(tmp_path / "ship.json")
    journal.record(shout, 630.0)
    shout.inputs[0].write_text("hello again")
    told = StringIO()
    ship([shout], tmp_path, told=told)
    assert "[1/1] shout: write it in capitals" in told.getvalue()
    assert "to go: 10 min 30 s, if it takes as long as last time" in told.getvalue()
    again = StringIO()
    ship([shout], tmp_path, told=again)
    assert again.getvalue().strip() == "[1/1] shout: write it in capitals – done"


def test_what_decides_a_correction_asks_for_new_numbers():
    files = (ROOT / "model" / "correction").glob("*.py")
    rooms = set(re.findall(r"from model\.(\w+)", "".join(file.read_text("utf-8") for file in files)))
    assert rooms >= {"text", "norm", "graph"}
    holding = {"trace", "stored"}  # these hold what was computed, and what lies on the disk
    assert {ROOT / "model" / room for room in rooms - holding} <= set(ANSWERS)
