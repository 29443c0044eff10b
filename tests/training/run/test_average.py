"""Average of the weights of several models, and of the last snapshots of a run."""

import csv
import json
import shutil

import numpy as np
import pytest
from click.testing import CliRunner

from model.network.networks import build_network, load_model_folder
from model.stored.config import TransformerConfig
from model.stored.folder import save_model_folder, save_snapshot
from model.text.tokenizer import Tokenizer
from training.__main__ import main
from training.run.record import Past, Record


def put(folder, seed, d_model=8):
    import keras

    keras.utils.set_random_seed(seed)
    tokenizer = Tokenizer("가나다 ")
    config = TransformerConfig(
        vocab_size=tokenizer.vocab_size,
        d_model=d_model,
        num_layers=1,
        num_heads=2,
        dff=8,
        minimum_confidence=0.3,
    )
    save_model_folder(folder, build_network(config, tokenizer), tokenizer)
    record = Record(folder, Past())
    record.open_history(0)
    record.add(
        step=seed, loss=1.0, learning_rate=0.1, dev_loss="", dev_token_accuracy="", pairs=7, seconds=2.0
    )
    record.write_run({"command": f"python -m training train --seed {seed}", "taken": {"steps": seed}})
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Three models of one shape."""
    place = tmp_path_factory.mktemp("models")
    return [put(place / name, seed) for seed, name in enumerate(("first", "second", "third"), 1)]


def average(*arguments):
    return CliRunner().invoke(main, ["average", *map(str, arguments)])


def weights(folder):
    return load_model_folder(folder)[0].get_weights()


def test_each_weight_lies_between_the_two_and_the_record_is_the_seconds_and_this_step(folders, tmp_path):
    first, second, _ = folders
    result = average(first, second, "--share", 0.7, "--out", tmp_path / "both")
    assert result.exit_code == 0, result.output
    for one, other, both in zip(weights(first), weights(second), weights(tmp_path / "both"), strict=True):
        np.testing.assert_allclose(both, 0.3 * one + 0.7 * other, atol=2e-3)  # float16 on disk
    network, *_ = load_model_folder(tmp_path / "both")
    assert network.config.minimum_confidence == 0  # to be chosen anew
    earlier, step = json.loads((tmp_path / "both" / "run.json").read_text("utf-8"))["runs"]
    assert earlier["command"] == "python -m training train --seed 2"
    assert step["command"] == "python -m training average first second --share 0.7 --out both"
    assert step["init"].startswith("second ") and step["averaged_with"].startswith("first ")
    assert step["taken"]["steps"] == 0
    with open(tmp_path / "both" / "history.csv", newline="", encoding="utf-8") as file:
        assert [row["step"] for row in csv.DictReader(file)] == ["2"]


def test_networks_of_different_shapes_are_refused(folders, tmp_path):
    first, second = folders[0], put(tmp_path / "second", 2, d_model=16)
    result = average(first, second, "--out", tmp_path / "both")
    assert result.exit_code == 2 and "differ in shape" in result.output
    assert not (tmp_path / "both").exists()
    missing = average(first, tmp_path / "none", "--out", tmp_path / "both")
    assert missing.exit_code == 1 and "none" in missing.output


def test_three_models_have_equal_parts(folders, tmp_path):
    result = average(*folders, "--out", tmp_path / "all")
    assert result.exit_code == 0, result.output
    for *parts, both in zip(*map(weights, folders), weights(tmp_path / "all"), strict=True):
        np.testing.assert_allclose(both, sum(parts) / 3, atol=2e-3)
    step = json.loads((tmp_path / "all" / "run.json").read_text("utf-8"))["runs"][-1]
    assert step["command"] == "python -m training average first second third --out all"
    assert len(step["averaged_with"]) == 2


def test_the_last_snapshots_of_a_run(folders, tmp_path):
    import keras

    folder = shutil.copytree(folders[0], tmp_path / "run")
    kept = []
    for step in (10, 20, 30):
        keras.utils.set_random_seed(step)
        network, *_ = load_model_folder(folder)
        network.set_weights([array + step for array in network.get_weights()])
        save_snapshot(folder, network, step)
        kept.append(network.get_weights())
    result = average(folder, "--last", 2, "--out", tmp_path / "mean")
    assert result.exit_code == 0, result.output
    for one, other, both in zip(*kept[1:], weights(tmp_path / "mean"), strict=True):
        np.testing.assert_allclose(both, (one + other) / 2, rtol=2e-3)
    assert "keeps 3 snapshots, 4" in average(folder, "--last", 4, "--out", tmp_path / "no").output
    assert average(folder, "--out", tmp_path / "no").exit_code == 2
    assert average(folder, folder, "--last", 2, "--out", tmp_path / "no").exit_code == 2
