"""Release pipeline ``ship`` of a small network; steps that are redone after a change."""

import csv
import json
import re
import runpy
import shutil
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from rich.console import Console

from model import Corrector
from model.stored.folder import ASSETS, find_model_folder, fingerprint, of_weights, read_config
from training.__main__ import main
from training.documents.render import DOCUMENTS, written
from training.documents.tables import Sources
from training.measure import confidence
from training.measure.confidence import Boosting
from training.ship import command
from training.ship.command import make
from training.ship.copy import main as copy
from training.ship.steps import ANSWERS, PYTHON, ROOT, Journal, ShipPlan, Step, digest, steps_of

SMALL = {
    "seeds": 1,
    "drill": 6,
    "space-drill": 6,
    "names": 4,
    "practised": 6,
    "intact": 4,
    "effects": 1,
    "pruning": 1,
    "head-pairs": 4,
    "edits": 1,
    "claimed": 1,
    "edit-sentences": 12,
    "answers": 2,
    "circuits": 1,
    "heard": 8,
    "heard-edits": 1,
    "rows": 8,
    "set-rows": 4,
    "samples": 11,
    "snapshot-rows": 4,
}


def own_sentences() -> list[str]:
    """Sentences that were written for this project."""
    found: list[str] = []
    for name in ("written", "written_unseen", "everyday"):
        with (ROOT / "benchmarks" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            found += [row["tgt"] for row in csv.DictReader(file)]
    return list(dict.fromkeys(found))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A repository's folders with a small corpus, small models and the documents, and a run to ship."""
    place = tmp_path_factory.mktemp("place")
    sentences = own_sentences()
    corpus = place / "corpus"
    corpus.mkdir()
    for name, part in (
        ("train", sentences[:80]),
        ("train2", sentences[80:180]),
        ("dev", sentences[180:240]),
        ("test", sentences[240:260]),
    ):
        rows = [
            json.dumps({"text": text, "source": ("Chatbot", "wikinews")[number % 2]}, ensure_ascii=False)
            for number, text in enumerate(part)
        ]
        (corpus / f"{name}.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    pairs = [{"wrong": "둘다 왔다.", "right": "둘 다 왔다.", "kind": "space", "edits": [["둘다", "둘 다"]]}]
    for name, parts in (("real_pairs", pairs), ("unseen", [{"text": text} for text in sentences[260:270]])):
        lines = [json.dumps(each | {"source": "a/b", "split": "test"}) for each in parts]
        (corpus / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in ("growing-up", "seq2seq"):
        shutil.copytree(ASSETS / name, place / "assets" / name, ignore=shutil.ignore_patterns("snapshots"))
    snapshots = sorted((ASSETS / "growing-up" / "snapshots").iterdir())
    (place / "assets/growing-up/snapshots").mkdir()
    shutil.copy(snapshots[-1], place / "assets/growing-up/snapshots")
    shutil.copytree(place / "assets/growing-up", place / "assets/transformer")
    shutil.copytree(place / "assets/growing-up", place / "runs/seventh/model")
    for name in DOCUMENTS:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, place / name)
    return place


def here(words):
    """The command in this process, so that its libraries are loaded once."""
    _, first, *rest = words
    before = sys.argv
    try:
        if first == "-m":
            sys.argv = rest
            runpy.run_module(rest[0], run_name="__main__", alter_sys=False)
        else:
            sys.argv = [first, *rest]
            runpy.run_path(first, run_name="__main__")
    except SystemExit as end:
        assert not end.code, words
    finally:
        sys.argv = before


def ship(place: Path, *more: str):
    sizes = [f"--{name}={size}" for name, size in SMALL.items()]
    folders = ["--corpus", str(place / "corpus"), "--into", str(place / "assets/transformer")]
    folders += ["--documents", str(place), "--without", "pictures"]
    arguments = ["ship", str(place / "runs/seventh"), *folders, *sizes, "--minimum", "0.5", *more]
    return CliRunner().invoke(main, arguments, catch_exceptions=False)


@pytest.fixture
def loaded_once(monkeypatch):
    """Each model is loaded once for all steps, which compiles its graphs once."""
    load, kept = Corrector.load, {}

    def load_once(model, minimum_confidence=None, snapshot=None, beam_width=1):
        key = fingerprint(find_model_folder(model)), minimum_confidence, snapshot
        if key not in kept:
            kept[key] = load(model, minimum_confidence, snapshot, beam_width)
        return kept[key]

    monkeypatch.setattr(Corrector, "load", staticmethod(load_once))


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
def test_a_run_is_shipped_and_shipping_it_again_changes_nothing(place, loaded_once, monkeypatch):
    monkeypatch.setattr(command, "run_command", here)
    monkeypatch.setattr(confidence, "BOOSTING", Boosting(trees=4, depth=2, rate=0.3))
    done = ship(place)
    assert done.exit_code == 0, done.output
    model = place / "assets/transformer"
    assert read_config(model).minimum_confidence == 0.5
    weights = of_weights(fingerprint(model))
    for name in ("heads", "agreement", "evaluation"):
        assert of_weights(json.loads((model / f"{name}.json").read_text("utf-8"))["fingerprint"]) == weights
    assert "seventh" in (place / "docs/model-card.md").read_text("utf-8")
    sources = Sources(place, model)
    for name in DOCUMENTS:
        assert (place / name).read_text("utf-8") == written((place / name).read_text("utf-8"), sources)

    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    monkeypatch.setattr(command, "run_command", pytest.fail)
    again = ship(place)
    assert "nothing was left to do" in again.output
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before
    assert "to do" not in ship(place, "--list").output
    assert ship(place, "--dry-run").output == ""


def test_the_steps_and_their_commands_can_be_seen_first(tmp_path):
    (tmp_path / "run").mkdir()
    listed = CliRunner().invoke(main, ["ship", str(tmp_path / "run"), "--list"])
    assert listed.exit_code == 0 and listed.output.count("to do") == len(steps_of(tmp_path, ShipPlan()))
    shown = CliRunner().invoke(main, ["ship", str(tmp_path / "run"), "--dry-run", "--only", "confidence"])
    assert shown.output.startswith("python -m training confidence ")
    assert (
        "--seeds=3 --drill=9000 --space-drill=3000 --names=6000 --practised=15000 --intact=9000"
        in shown.output
    )
    assert not list((tmp_path / "run").iterdir())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--only", "wonders"), "no step wonders"),
        (("--without", "wonders"), "no step wonders"),
        (("--last", "3", "--with", "growing-up"), "give one of them"),
        (("--minimum", "2"), "received 2"),
        (("--minimum", "sometimes"), "'sometimes'"),
    ],
)
def test_what_cannot_be_shipped_so_is_refused(tmp_path, options, said):
    refused = CliRunner().invoke(main, ["ship", str(tmp_path), *options])
    assert refused.exit_code == 2 and said in refused.output


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ((), ["past", "take", "export"]),
        (("--last", "3"), ["past", "average", "export"]),
        (("--with", "growing-up", "--share", "0.9"), ["past", "with", "average", "export"]),
        (
            ("--with", "growing-up", "--share", "0.5", "--share", "0.9"),
            ["past", "with", "average", "choose", "export"],
        ),
    ],
)
def test_weights_are_taken_averaged_or_chosen(tmp_path, options, steps):
    shown = CliRunner().invoke(main, ["ship", str(tmp_path), "--list", *options]).output
    names = [line.split("│")[1].strip() for line in shown.splitlines() if line.startswith("│")]
    assert [name for name in names if name][: len(steps)] == steps


def test_the_average_that_corrects_best_is_chosen(tmp_path, monkeypatch):
    monkeypatch.setattr("training.ship.copy.add_graph", lambda folder: None)  # these folders hold no model
    for name, best in (("0.5", 0.8), ("0.9", 0.9)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(name)
        found = {"thresholds": [{"f0.5": 0.1, "exact_match": 1.0}, {"f0.5": best, "exact_match": 0.5}]}
        (tmp_path / f"{name}.json").write_text(json.dumps(found))
    files = [str(tmp_path / name) for name in ("0.5", "0.5.json", "0.9", "0.9.json")]
    done = CliRunner().invoke(copy, ["choose", str(tmp_path / "out"), *files])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "config.json").read_text() == "0.9"


def test_a_step_reads_only_what_is_there_or_what_a_step_before_it_leaves(tmp_path):
    left: list[Path] = []
    plan = ShipPlan(corpus=tmp_path / "corpus", other="growing-up", share=(0.5, 0.9), minimum="choose")
    for step in steps_of(tmp_path / "run", plan):
        for path in step.inputs:
            known = path.is_relative_to(plan.corpus) or path.is_relative_to(tmp_path / "run" / "model")
            made = any(
                path == each or path.is_relative_to(each) or each.is_relative_to(path) for each in left
            )
            assert known or made or path.exists() or path == tmp_path / "run" / "weights.npz", (
                step.name,
                path,
            )
        left += step.outputs
    names = [step.name for step in steps_of(tmp_path / "run", plan)]
    assert len(names) == len(set(names)) and names[-1] == "documents"


@pytest.fixture
def shout(tmp_path):
    """A step that writes its input in capitals; ``word`` is the input."""
    word, loud = tmp_path / "word.txt", tmp_path / "loud.txt"
    word.write_text("hello")
    return Step("shout", "write it in capitals", (word,), (loud,), ((PYTHON, "shout", str(word), str(loud)),))


def do(command):
    _, _, source, target = command
    Path(target).write_text(Path(source).read_text().upper())


def make_steps(steps, tmp_path, execute=do, told=None):
    console = Console(file=told or StringIO())
    return make(steps, Journal(tmp_path / "ship.json"), console, execute)


@pytest.mark.parametrize("change", ["input", "output", "command", "no output"])
def test_what_changed_is_done_again(shout, tmp_path, change):
    make_steps([shout], tmp_path)
    (word,), (loud,) = shout.inputs, shout.outputs
    match change:
        case "input":
            word.write_text("bye")
        case "output":
            loud.write_text("typed by hand")
        case "no output":
            loud.unlink()
        case "command":
            (written,) = shout.commands
            shout = replace(shout, commands=((PYTHON, "cry", *written[2:]),))
    assert make_steps([shout], tmp_path) == 1
    assert loud.read_text() == word.read_text().upper()


def test_a_step_that_fails_is_begun_again_and_those_before_it_are_not(shout, tmp_path):
    end = tmp_path / "end"
    second = Step("again", "", shout.outputs, (end,), (("", "", str(shout.outputs[0]), str(end)),))

    def fail_at_the_second(command):
        if command == second.commands[0]:
            raise subprocess.CalledProcessError(1, command)
        do(command)

    with pytest.raises(click.ClickException, match="again failed with status 1"):
        make_steps([shout, second], tmp_path, fail_at_the_second)
    assert make_steps([shout, second], tmp_path) == 1
    assert end.read_text() == "HELLO"


def test_a_step_without_its_input_or_its_output_is_a_message(shout, tmp_path):
    with pytest.raises(click.ClickException, match=r"shout left no .*loud\.txt"):
        make_steps([shout], tmp_path, lambda command: None)
    shout.inputs[0].unlink()
    with pytest.raises(click.ClickException, match=r"shout needs .*word\.txt"):
        make_steps([shout], tmp_path)


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
    make_steps([shout], tmp_path, told=told)
    assert "[1/1] shout: write it in capitals" in told.getvalue()
    assert "to go: 10 min 30 s, if it takes as long as last time" in told.getvalue()
    again = StringIO()
    make_steps([shout], tmp_path, told=again)
    assert again.getvalue().strip() == "[1/1] shout: write it in capitals – done"


def test_what_decides_a_correction_asks_for_new_numbers():
    files = (ROOT / "model" / "correction").glob("*.py")
    rooms = set(re.findall(r"from model\.(\w+)", "".join(file.read_text("utf-8") for file in files)))
    assert rooms >= {"text", "norm", "graph"}
    holding = {"trace", "stored"}  # these hold computed traces, and files on the disk
    assert {ROOT / "model" / room for room in rooms - holding} <= set(ANSWERS)
