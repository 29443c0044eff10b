"""Page of the model card: sizes, scores, training record, missing or damaged files."""

import json
import re

import numpy as np
import pytest

from tests.ui.conftest import entry
from tests.ui.screen import decode, figure, figures
from tests.ui.screen import html as written
from ui.asking import loaders
from ui.wording import table

EN = table("en")
SNAPSHOTS = """step,pairs,loss,exact_match,cer_after,f0.5,clean_untouched
0,,,0.12,0.1,0.0,1.0
2000,188329,0.1,0.39,0.04,0.78,0.84
"""
SCORES = {
    "count": 10,
    "exact_match": 0.5,
    "cer_before": 0.1,
    "cer_after": 0.02,
    "cer_reduction": 0.8,
    "precision": 0.9,
    "recall": None,
    "f0.5": 0.85,
    "clean_untouched": None,
}
RELIABILITY = {
    "changes": 8,
    "expected_calibration_error": 0.031,
    "bins": [
        {"from": 0.0, "to": 0.5, "changes": 0, "mean_confidence": None, "right": None},
        {"from": 0.5, "to": 1.0, "changes": 8, "mean_confidence": 0.9, "right": 0.875},
    ],
}
EVALUATION = {
    "file": "dev.jsonl",
    "seed": 3,
    "mix": {"typing": 1.0},
    "sentences": 10,
    "minimum_confidence": 0.5,
    "total": SCORES,
    "families": {"typing": SCORES},
}


@pytest.fixture
def assets(tmp_path, monkeypatch, entries):
    """The folder of the shipped models, for one test."""
    monkeypatch.setattr(loaders, "ASSETS", tmp_path)
    entries.clear()
    return tmp_path


@pytest.fixture
def folder(assets, entries):
    return add_model(assets / "transformer", entries)


@pytest.fixture
def open_model(open_app):
    return lambda: open_app("model", lang="en")


def add_model(folder, entries):
    folder.mkdir()
    config = {"num_layers": 2, "num_heads": 4, "d_model": 8, "dff": 16, "vocab_size": 50, "max_length": 64}
    (folder / "config.json").write_text(json.dumps(config))
    np.savez(folder / "weights.npz", a=np.zeros((50, 8)), b=np.zeros(8))
    entries.append(entry(folder))
    return folder


def add_results(folder, **more):
    (folder / "evaluation.json").write_text(json.dumps(EVALUATION | more))


def add_history(folder):
    (folder / "history.csv").write_text(
        "step,loss,learning_rate,dev_loss,dev_token_accuracy,pairs,seconds\n"
        "1,2.0,0.1,,,1000,1800\n2,1.5,0.2,1.4,0.6,2000,5400\n"
    )
    run = {"command": "python -m training train --steps 2 <b>", "hardware": {"cores": 2, "keras": "3.15"}}
    (folder / "run.json").write_text(json.dumps({"runs": [run, run]}))


def rows(app) -> list[tuple[str, list[str]]]:
    """(name, cells) of each row of each table on the page."""
    found = re.findall(r'<tr[^>]*><th scope="row">(.*?)</th>(.*?)</tr>', written(app))
    return [(name, re.findall("<td>(.*?)</td>", cells)) for name, cells in found]


def headings(app) -> list[str]:
    return [heading.value for heading in app.subheader] + [fold.label for fold in app.expander]


def test_a_folder_without_results_shows_sizes_and_the_number_of_parameters(open_model, folder):
    app = open_model()
    values = {metric.label: metric.value for metric in app.metric}
    assert (values["Parameters"], values["Heads"]) == ("408", "4")
    assert not figures(app) and not rows(app)
    assert headings(app) == [EN["config_heading"]]


def test_scores_calibration_and_history_are_told_and_all_but_a_curve_and_a_table_folded(open_model, folder):
    thresholds = [{"minimum_confidence": least, **SCORES} for least in (0.0, 0.5, 0.95)]
    add_results(folder, reliability=RELIABILITY, thresholds=thresholds)
    add_history(folder)
    (folder / "runs.csv").write_text("run,kind,dev_loss\n1,training,0.1\n2,training,\n3,average,0.05\n")
    app = open_model()
    said = EN["model_reading"].format(parameters="408", pairs="2,000", hours="1.5", count="10", exact="50%")
    assert said in written(app)
    keys = ("config_heading", "evaluation_heading", "reliability_heading", "training_heading")
    assert [(fold.label, fold.proto.expanded) for fold in app.expander] == [(EN[key], False) for key in keys]

    names = [EN["family_typing"], EN["family_all"]]
    assert [name for name, _ in rows(app)] == [*names * 2, "0.00", "0.50", "0.95"]
    cells = ["10", "50.0%", "10.0%", "2.0%", "80.0%", "90.0%", "–", "85.0%", "–"]
    assert [found for _, found in rows(app)[:4]] == [["10", "50.0%", "85.0%"]] * 2 + [cells] * 2
    assert EN["evaluation_generated"].format(file="dev.jsonl", seed=3) in written(app)
    assert rows(app)[4][1] == ["50.0%", "2.0%", "80.0%", "90.0%", "–", "85.0%", "–"]
    assert '<tr class="strong"><th scope="row">0.50</th>' in written(app)  # the model's own

    assert set(figures(app)) == {"history", "reliability", "training", "runs"}
    assert EN["reliability_reading"].format(error="3.1") in written(app)
    _, curve, bars = figure(app, "reliability")["data"]
    assert [decode(curve[axis]).tolist() for axis in "xy"] == [[0.9], [0.875]]
    assert decode(bars["y"]).tolist() == [0, 8]
    assert decode(figure(app, "runs")["data"][0]["y"]).tolist() == [0.1, 0.05]

    assert EN["history_caption"].format(pairs="2,000", hours="1.5") in written(app)
    folded = [code.value for fold in app.expander for code in fold.code]
    assert folded == [code.value for code in app.code] == ["python -m training train --steps 2 <b>"] * 2
    assert "cores 2 · keras 3.15" in written(app)


def test_the_shipped_networks_stand_side_by_side_where_they_were_measured_alike(
    open_model, assets, folder, entries
):
    add_results(folder)
    add_history(folder)
    other = add_model(assets / "seq2seq", entries)
    assert EN["comparison_heading"] not in headings(open_model())
    add_results(other, seed=4)
    assert EN["comparison_heading"] not in headings(open_model())
    add_results(other, total=SCORES | {"exact_match": 0.25})
    app = open_model()
    assert EN["comparison_heading"] in headings(app)
    names = [EN["model_name_transformer"], EN["model_name_seq2seq"]]
    shown = [(name, cells[:3]) for name, cells in rows(app)[4:]]
    assert shown == list(zip(names, [["408", "2,000", "50.0%"], ["408", "–", "25.0%"]], strict=True))
    app.selectbox(key="control_model").set_value("seq2seq").run()
    assert rows(app)[1][1][1] == "25.0%"


def test_a_network_that_grew_up_says_what_its_snapshots_are(open_model, folder):
    (folder / "snapshots.csv").write_text(SNAPSHOTS)
    app = open_model()
    assert EN["model_snapshots"].format(count=2) in written(app)
    assert rows(app) == [
        ("0", ["–", "12.0%", "10.0%", "0.0%", "100.0%"]),
        ("2,000", ["188,329", "39.0%", "4.0%", "78.0%", "84.0%"]),
    ]


def test_a_record_that_is_being_written_or_has_no_runs_is_passed_over(open_model, folder):
    add_history(folder)
    (folder / "run.json").write_bytes(b'{"command": "older"}')
    assert open_model().metric
    for content in (b"", b"\xff\xfe"):
        for name in ("evaluation.json", "history.csv", "run.json", "runs.csv"):
            (folder / name).write_bytes(content)
        assert open_model().metric


@pytest.mark.parametrize(("name", "content"), [("config.json", None), ("weights.npz", b"PK\x03\x04 cut")])
def test_a_missing_or_damaged_folder_or_no_model_at_all_is_said(open_app, entries, folder, name, content):
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    for _ in range(2):
        assert [info.value for info in open_app("model").info] == [table("ko")["model_missing"]]
        entries.clear()
