"""Shipped assets agree: weights, training record, measured numbers, snapshots, words."""

import csv
import json
from pathlib import Path

import pytest

from model.correction.confidence import load_confidence
from model.network.networks import load_model_folder
from model.stored.folder import ASSETS, list_models, snapshot_steps
from model.text.changes import find_changes

MODELS = [entry.name for entry in list_models(ASSETS)]
MEGABYTE = 1_000_000


def test_the_shipped_models():
    assert {"transformer", "seq2seq", "growing-up"} <= set(MODELS)
    assert all(entry.problem is None for entry in list_models(ASSETS))
    weights = sum(path.stat().st_size for path in ASSETS.rglob("*.npz"))
    assert weights < 60 * MEGABYTE


@pytest.mark.parametrize("name", MODELS)
def test_the_record_beside_the_weights(name):
    folder = ASSETS / name
    runs = json.loads((folder / "run.json").read_text("utf-8"))["runs"]
    for run in runs:
        assert run["command"].startswith(("python -m training train ", "python -m training average "))
        assert run["hardware"]["cores"] >= 1
        # One network throughout, which may have been made wider on the way.
        shape, last = (dict(each["network"]) for each in (run, runs[-1]))
        assert shape.pop("dff", 0) <= last.pop("dff", 0)
        assert shape.items() <= last.items()
    with open(folder / "history.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for column in ("step", "pairs", "seconds"):
        values = [float(row[column]) for row in rows]
        assert values == sorted(values)
    for column, taken in (("step", "steps"), ("pairs", "pairs")):
        assert int(rows[-1][column]) == sum(run["taken"][taken] for run in runs)
    assert (folder / "corpus.csv").read_text("utf-8").startswith("source,licence,commit,sentences")


def test_every_round_of_the_shipped_network_is_listed():
    with open(ASSETS / "transformer" / "runs.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["run"]) for row in rows] == list(range(1, len(rows) + 1))
    assert {row["kind"] for row in rows} == {"training", "average"}
    assert all((row["kind"] == "training") == bool(row["steps"]) for row in rows)
    assert all(0 < float(row["dev_loss"]) < 1 for row in rows if row["dev_loss"])


@pytest.mark.parametrize("name", MODELS)
def test_the_numbers_were_measured_with_these_weights(name):
    *_, fingerprint = load_model_folder(ASSETS / name)
    evaluation = json.loads((ASSETS / name / "evaluation.json").read_text("utf-8"))
    assert evaluation["fingerprint"] == fingerprint


def test_the_snapshots_of_growing_up():
    steps = snapshot_steps(ASSETS / "growing-up")
    assert len(steps) >= 8
    with open(ASSETS / "growing-up" / "snapshots.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["step"]) for row in rows] == list(steps)
    assert float(rows[-1]["cer_after"]) < float(rows[0]["cer_after"])


def test_the_table_of_words_is_small():
    folder = ASSETS / "transformer"
    assert (folder / "words.txt.gz").stat().st_size < 2 * MEGABYTE
    assert 10_000 < len(load_confidence(folder).words.counts) < 500_000


def test_what_is_made_of_everyday_mistakes_is_what_differs(shipped):
    """Pictures find a change again by comparing the texts, at any minimum confidence."""
    files = sorted((Path(__file__).parents[1] / "benchmarks").glob("everyday*.csv"))
    texts = [row["src"] for path in files for row in csv.DictReader(path.open(encoding="utf-8"))]
    for correction in shipped.correct_batch(texts[::3]):
        for minimum in (0.0, 0.5, 0.9):
            for sentence in correction.with_minimum_confidence(minimum).sentences:
                assert sentence.changes == find_changes(sentence.source, sentence.text)
