"""Fine-tuning: own pairs, start from another model, grown networks, snapshots."""

import csv
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from model.network.networks import load_model_folder
from model.stored.folder import ModelFolderError, list_models, snapshot_steps
from tests.training.steps import history, runs, train

SMALL = ("--d-model=16", "--num-layers=1", "--num-heads=2", "--dff=32")
SCHEDULE = ("--warmup=5", "--peak=0.003", "--batch-tokens=200", "--history-every=10")
PAIRS = "src,tgt\n머글 꺼예요.,먹을 거예요.\n됬어요.,됐어요.\n"


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "own.csv"
    path.write_text(PAIRS, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def base(pairs, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "base"
    train(*SCHEDULE, "--pairs", pairs, "--out", out, "--steps=60", "--snapshot-drop=0.1", *SMALL)
    return out


def test_pairs_alone_train_a_model_that_is_listed(base):
    (entry,) = list_models(base.parent)
    assert (entry.name, entry.path, entry.problem) == ("base", base / "model", None)
    assert float(history(base)[-1]["loss"]) < float(history(base)[0]["loss"])
    (run,) = runs(base)
    assert run["corpus"] == ["own.csv"]
    assert run["hardware"]["cores"] >= 1
    assert run["taken"]["steps"] == 60
    assert run["taken"]["pairs"] == int(history(base)[-1]["pairs"])
    # The command as one would type it elsewhere: no folder of this machine in it.
    assert run["command"].startswith("python -m training train --pairs own.csv --out base ")
    assert " --steps 60 " in run["command"]
    assert str(base.parent) not in json.dumps(run)


def test_a_run_continues_another_models_weights_and_record(base, pairs, tmp_path):
    out = tmp_path / "tuned"
    grown = f"--init={base}", f"--out={out}", "--steps=2", "--peak=1e-9", "--optimizer=muon"
    train(*SCHEDULE, "--history-every=1", "--pairs", pairs, *grown, eager=True)
    before, after = (load_model_folder(folder / "model")[0] for folder in (base, out))
    for old, new in zip(before.get_weights(), after.get_weights(), strict=True):
        np.testing.assert_allclose(new, old, atol=2e-3)  # at this rate nothing moves: they are its weights
    begun, continued = history(base), history(out)
    assert continued[: len(begun)] == begun
    assert [int(row["step"]) for row in continued[len(begun) :]] == [61, 62]
    assert int(continued[-1]["pairs"]) > int(begun[-1]["pairs"])
    first, second = runs(out)
    assert first == runs(base)[0]
    assert (first["taken"]["steps"], second["taken"]["steps"]) == (60, 2)
    assert second["init"].startswith("base ")
    assert second["network"]["d_model"] == 16
    assert second["optimizer"] == "muon"


def test_history_beyond_the_saved_weights_is_not_continued(base, pairs, tmp_path):
    stopped, out = tmp_path / "stopped", tmp_path / "tuned"
    shutil.copytree(base, stopped)
    last = history(stopped)[-1]
    with open(stopped / "model" / "history.csv", "a", newline="", encoding="utf-8") as file:
        csv.DictWriter(file, last).writerow({**last, "step": 70, "pairs": 9999})
    one = "--steps=1", "--history-every=1"
    train(*SCHEDULE, "--pairs", pairs, "--init", stopped, "--out", out, *one, eager=True)
    assert [int(row["step"]) for row in history(out)[-2:]] == [60, 61]
    assert int(history(out)[-1]["pairs"]) < 9999


def test_the_shape_comes_from_the_model_one_starts_from(base, pairs, tmp_path):
    result = train(
        *SCHEDULE, "--pairs", pairs, "--init", base, "--out", tmp_path / "x", "--d-model=32", status=2
    )
    assert "d_model" in result.output
    result = train(
        *SCHEDULE, "--pairs", pairs, "--init", tmp_path / "nothing", "--out", tmp_path / "x", status=1
    )
    assert "cannot be read" in result.output


def test_a_widened_network_begins_with_what_it_was_grown_from(base, pairs, tmp_path):
    out = tmp_path / "wide"
    grown = "--init", base, "--steps=1", "--peak=1e-9", "--dff=48"
    train(*SCHEDULE, "--pairs", pairs, "--out", out, *grown, eager=True)
    (narrow, *_), (wide, *_) = (load_model_folder(folder / "model") for folder in (base, out))
    assert (narrow.config.dff, wide.config.dff) == (32, 48)
    inputs = np.array([[5, 6, 7, 8]]), np.array([[1, 5, 6, 7]])
    np.testing.assert_allclose(np.asarray(wide(inputs)), np.asarray(narrow(inputs)), atol=1e-2)  # float16
    new_units = wide.encoder_blocks[0].feed_forward.get_weights()[0][:, 32:]
    assert np.abs(new_units).min(axis=0).max() > 0  # they have something to learn from

    result = train(*SCHEDULE, "--pairs", pairs, "--init", base, "--out", tmp_path / "x", "--dff=16", status=2)
    assert "received 16" in result.output


def test_a_deepened_network_begins_with_what_it_was_grown_from(base):
    from model.network.networks import build_network
    from training.run.record import Origin

    origin = Origin.load(str(base))
    shallow, deep = (
        build_network(each.config, each.tokenizer) for each in (origin, origin.grown(num_layers=3))
    )
    for network in (shallow, deep):
        origin.put_into(network)
    assert (len(deep.encoder_blocks), len(deep.decoder_blocks)) == (3, 3)
    inputs = np.array([[5, 6, 7, 8]]), np.array([[1, 5, 6, 7]])
    np.testing.assert_allclose(np.asarray(deep(inputs)), np.asarray(shallow(inputs)), atol=1e-6)
    added = deep.decoder_blocks[2]
    for sublayer in added.attentions.values():
        assert np.abs(sublayer.query_projection.get_weights()[0]).min() > 0  # something to learn from

    with pytest.raises(ValueError, match="received 0"):
        origin.grown(num_layers=0)
    last = origin._replace(config=replace(origin.config, norm_first=False))
    with pytest.raises(ValueError, match="norm_first"):
        last.grown(num_layers=2)
    with pytest.raises(ModelFolderError, match="another network"):
        origin._replace(weights={**origin.weights, "transformer/other/kernel": np.zeros(1)}).put_into(deep)


def test_bad_rows_are_named_and_nothing_else_stops(pairs, tmp_path):
    path = tmp_path / "bad.csv"
    lines = [
        "src,tgt",
        "됬어요.,됐어요.",
        "하나뿐",
        "가,나,다",
        ",빈 칸",
        f"{'가' * 200},{'가' * 200}",
        "할께요.,할게요.",
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    out = tmp_path / "run"
    result = train(*SCHEDULE, "--pairs", path, "--out", out, "--steps=1", *SMALL, eager=True)
    assert result.exit_code == 0, result.output
    assert "skipped 4, kept 2 rows" in result.output
    for line in (3, 4, 5, 6):
        assert f"line {line}: " in result.output
    assert load_model_folder(out / "model")

    path.write_text("wrong,right\n가,나\n", encoding="utf-8")
    result = train(*SCHEDULE, "--pairs", path, "--out", tmp_path / "other", "--steps=1", *SMALL, status=1)
    assert "the header should hold src,tgt; received 'wrong,right'" in result.output


def test_snapshots_begin_at_step_0_end_with_the_run_and_lie_where_the_loss_fell(base):
    steps = snapshot_steps(base / "model")
    assert steps[0] == 0
    assert steps[-1] == 60
    assert len(steps) > 3
    loaded = [load_model_folder(base / "model", snapshot=step)[0].get_weights()[0] for step in steps]
    distances = [np.abs(weights - loaded[0]).mean() for weights in loaded]
    assert distances == sorted(distances)
    final = load_model_folder(base / "model")[0].get_weights()[0]
    np.testing.assert_array_equal(final, loaded[-1])
