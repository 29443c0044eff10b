"""The page of numbers shows what lies in the model's folder, and says so where it is missing."""

import json
import re

import numpy as np
import pytest

from ui import model_card
from ui.texts import table

SCORES = {
    "count": 10,
    "exact_match": 0.5,
    "cer_before": 0.1,
    "cer_after": 0.02,
    "precision": 0.9,
    "recall": None,
    "f0.5": 0.8,
    "clean_untouched": None,
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    config = {"num_layers": 2, "num_heads": 4, "d_model": 8, "dff": 16, "vocab_size": 50, "max_length": 64}
    (tmp_path / "config.json").write_text(json.dumps(config))
    np.savez(tmp_path / "weights.npz", a=np.zeros((50, 8)), b=np.zeros(8))
    monkeypatch.setattr(model_card, "FOLDER", tmp_path)
    return tmp_path


def add_results(folder):
    document = {"file": "dev.jsonl", "seed": 3, "total": SCORES, "families": {"typing": SCORES}}
    (folder / "evaluation.json").write_text(json.dumps(document))
    (folder / "history.csv").write_text(
        "step,loss,learning_rate,dev_loss,dev_token_accuracy\n1,2.0,0.1,,\n2,1.5,0.2,1.4,0.6\n"
    )


def test_sizes_and_number_of_parameters(open_app, folder):
    values = {metric.label: metric.value for metric in open_app("model", lang="en").metric}
    assert values["Parameters"] == "408"
    assert values["Heads"] == "4"


def test_results_and_training_curve(open_app, folder):
    add_results(folder)
    app = open_app("model", lang="en")
    assert not app.exception
    written = "".join(element.proto.body for element in app.html)
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', written)
    assert [name for name, _ in rows] == [table("en")["family_typing"], table("en")["family_all"]]
    cells = re.findall(r"<td>(.*?)</td>", rows[1][1])
    assert cells == ["10", "50.0%", "10.0%", "2.0%", "90.0%", "–", "80.0%", "–"]
    assert len(app.get("plotly_chart")) == 1


def test_a_folder_without_results_still_shows_its_sizes(open_app, folder):
    app = open_app("model")
    assert app.metric and not app.get("plotly_chart")
    assert "<table" not in "".join(element.proto.body for element in app.html)


@pytest.mark.parametrize("name", ["config.json", "weights.npz"])
@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 cut"])
def test_a_missing_or_damaged_folder_is_said(open_app, folder, name, content):
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    app = open_app("model")
    assert not app.exception
    assert [info.value for info in app.info] == [table("ko")["model_missing"]]
