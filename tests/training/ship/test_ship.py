"""A small network is shipped from its run to the documents, into a folder of its own."""

import csv
import json
import runpy
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from model.stored.folder import ASSETS, fingerprint, of_weights, read_config
from training.__main__ import main
from training.documents.command import written
from training.documents.marks import DOCUMENTS
from training.documents.sources import Sources
from training.measure import confidence
from training.measure.boosting import Boosting
from training.ship import command
from training.ship.plan import ROOT, Plan
from training.ship.steps import steps_of

SMALL = {
    "seeds": 1,
    "drill": 6,
    "space-drill": 6,
    "names": 4,
    "intact": 4,
    "effects": 2,
    "pruning": 2,
    "head-pairs": 6,
    "edits": 2,
    "edit-sentences": 12,
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


def test_a_run_is_shipped_and_shipping_it_again_changes_nothing(place, monkeypatch):
    monkeypatch.setattr(command, "run_command", here)
    monkeypatch.setattr(confidence, "HOW", Boosting(trees=4, depth=2, rate=0.3))
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
    assert listed.exit_code == 0 and listed.output.count("to do") == len(steps_of(tmp_path, Plan()))
    shown = CliRunner().invoke(main, ["ship", str(tmp_path / "run"), "--dry-run", "--only", "confidence"])
    assert shown.output.startswith("python -m training confidence ")
    assert "--seeds=3 --drill=9000 --space-drill=3000 --names=6000 --intact=9000" in shown.output
    assert not list((tmp_path / "run").iterdir())


def test_a_step_that_is_none_is_refused(tmp_path):
    refused = CliRunner().invoke(main, ["ship", str(tmp_path), "--only", "wonders"])
    assert refused.exit_code == 2 and "no step wonders" in refused.output


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ((), "python -m training.ship.copy"),
        (("--last", "3"), "python -m training average"),
        (("--with", "growing-up", "--share", "0.9"), "python -m training average"),
    ],
)
def test_weights_are_taken_or_averaged(tmp_path, options, first):
    shown = CliRunner().invoke(main, ["ship", str(tmp_path), "--dry-run", "--only", "average", *options])
    assert shown.output.startswith(first)


def test_two_ways_to_average_are_refused(tmp_path):
    refused = CliRunner().invoke(main, ["ship", str(tmp_path), "--last", "3", "--with", "growing-up"])
    assert refused.exit_code == 2 and "give one of them" in refused.output


def test_a_step_reads_only_what_is_there_or_what_a_step_before_it_leaves(tmp_path):
    left: list[Path] = []
    plan = Plan(corpus=tmp_path / "corpus", minimum="choose")
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


@pytest.mark.parametrize("how", ["2", "sometimes"])
def test_a_minimum_that_is_no_probability_is_refused(tmp_path, how):
    assert CliRunner().invoke(main, ["ship", str(tmp_path), "--minimum", how]).exit_code == 2
