"""Experiments of activation patching, circuit, score decomposition, claims.

Over a planted circuit.
"""

import json
from html import escape

import numpy as np
import pytest

from model.analysis.ablation import corrupted_values
from model.analysis.circuits import find_circuit, holds
from model.analysis.claims import LOOK, verified_explanation
from model.analysis.patching import corrupted_by_exchange
from tests.planted import CARRY, EDIT, MARK, ROW, WRONG
from tests.ui.screen import chosen, figure, figures, html, numbers, open_popover, send, setting, told
from ui.wording import share_kept, table
from viz.labels import weight

KO = table("ko")
HEAD = (CARRY.kind, str(CARRY.layer + 1), str(CARRY.head + 1))


@pytest.fixture
def open_circuit(open_app, correctors, planted_circuit):
    """Opens an experiment with the planted circuit in place of the shipped network."""

    def open_at(experiment: str, network=planted_circuit, **settings: str):
        correctors["transformer"] = network
        return open_app("laboratory", experiment=experiment, sentence=WRONG, edit="1", **settings)

    return open_at


def test_the_corrupted_run_and_how_much_returns_are_told_and_a_sentence_without_the_mistake_is_none(
    open_circuit, planted_circuit
):
    twin = corrupted_by_exchange(planted_circuit, EDIT)
    said = told(open_circuit("patched"))
    assert twin.source in said and "100" in said
    app = open_circuit("patched", patch_twin="sentence", twin_sentence="가나다")
    assert ("‘머’" in told(app) or "머거" in told(app)) and "patched" not in figures(app)
    open_circuit("patched", patch_twin="sentence", twin_sentence="나나머거어.")


def test_an_exchange_that_takes_little_shows_no_shares(open_circuit, monkeypatch):
    """Nor a circuit against it: the view names both scores instead."""
    monkeypatch.setattr("model.analysis.patching.HALF", 5.0)
    for view, text in (("patched", "patch_not_lowered"), ("circuit", "circuit_nothing_twin")):
        app = open_circuit(view, circuit_instead="twin")
        assert KO[text].split("{change}: ")[1].split("{")[0].split("(")[0] in told(app)
        assert view not in figures(app)


def test_the_heads_of_the_decoder_stand_below_each_other_and_open(open_circuit):
    app = open_circuit("patched", patch_side="decoder", patch_part="heads")
    shown = numbers(app, "patched")
    row, column = np.unravel_index(shown.argmax(), shown.shape)
    names = figure(app, "patched")["layout"]["yaxis"]["ticktext"]
    assert names[row].endswith(f"{CARRY.layer + 1}·{CARRY.head + 1}") and int(column) == ROW
    assert len(shown) < 8 and any(" … " in name for name in names)  # heads that restore nothing share a row
    for point in ({}, {"x": 1, "y": 99}, {"x": "a", "y": None}):  # a browser may send anything
        assert setting(send(app, "patched", "click", point), "experiment") == "patched"
    app = send(app, "patched", "click", {"x": float(column + 1), "y": float(row)})
    assert chosen(app, "kind", "layer", "head", "view") == (*HEAD, "heatmap")


def test_the_graph_is_the_planted_chain_and_a_node_opens_its_head(open_circuit):
    app = open_circuit("circuit", circuit_instead="twin")
    spec = figure(app, "circuit_graph")
    points = spec["data"][-1]
    shown = dict(zip(points["text"], points["customdata"], strict=True))
    assert list(MARK) in shown.values() and list(CARRY) in shown.values()
    assert {line["name"] for line in spec["data"] if line.get("showlegend")} <= {
        table("ko")[each] for each in ("circuit_line", "circuit_line_dashed")
    }
    hovered = spec["data"][-2]
    nats = [float(each.split()[0].replace("−", "-")) for each in hovered["hovertext"]]
    large = [text for text, each in zip(hovered["text"], nats, strict=True) if each > 1]
    assert len(large) == 4 and any(text.startswith("거 →") for text in large)
    assert "3개만" in told(app)
    app = send(app, "circuit_graph", "click", {"custom": list(CARRY)})
    assert chosen(app, "kind", "layer", "head") == HEAD


def test_the_graph_can_be_taken_along_for_other_viewers(open_circuit, downloads):
    for language in ("ko", "en"):
        open_circuit("circuit", lang=language)
        graph = json.loads(downloads["JSON"]())  # when the file is requested, the page has run
        assert graph["nodes"][-1]["clerp"].startswith('Output "먹" (p=1.000)')
        labels, words = [node["clerp"] for node in graph["nodes"]], table(language)
        assert f"{words['kind_cross_attention']} 2·2" in labels
        assert words["circuit_feed_decoder"].format(layer=2) in labels


def test_growth_and_checks_are_what_was_measured(open_circuit, planted_circuit):
    twin = corrupted_by_exchange(planted_circuit, EDIT)
    ablation = corrupted_values(planted_circuit.patched, planted_circuit.tokenizer, twin)
    found = find_circuit(planted_circuit, EDIT, ablation=ablation)
    reached = int(np.flatnonzero(holds(found.growth, found.goal))[0])
    app = open_circuit("circuit", circuit_as="growth", circuit_instead="twin")
    curve = figure(app, "circuit_growth")["data"][0]
    assert len(curve["text"]) == min(reached + 1 + 6, len(found.nodes))
    app = open_circuit("circuit", circuit_as="checks", circuit_instead="twin")
    after = figure(app, "circuit_checks")["data"][2]
    assert len(after["text"]) == len(found.members) + 2
    app = open_popover(app, "explanation")
    assert KO["circuit_minimal"] in html(app)


def test_another_cell_can_be_chosen_and_a_mean_is_the_head_that_looks_there_most(open_circuit):
    app = open_circuit("why", kind="cross_attention", layer="mean", head="mean", why_row="2", why_column="3")
    assert "‘거’" in told(app) and "‘먹’" in told(app)
    open_circuit("why", kind="decoder_attention", why_row="2", why_column="4", cell="1,9")


def test_every_claim_has_its_receipt_and_why_a_head_looked_has_weights(open_circuit, planted_writer):
    found = verified_explanation(planted_writer, EDIT).claims
    (why,) = [receipt for receipt in found if receipt.measured == LOOK]
    shown = html(open_circuit("receipts", network=planted_writer))
    assert escape(f"가중치 {weight(why.before)} → {weight(why.after)}") in shown
    assert KO["why_part_position"] in shown
    for receipt in (each for each in found if each.measured != LOOK):
        assert f"{receipt.before:+.2f} → {receipt.after:+.2f}".replace("-", "−") in shown
    assert shown.count('class="holds"') == sum(each.holds for each in found)
    (decided,) = [receipt for receipt in found if receipt.name == "decided"]
    assert share_kept(decided.facts["share"]) in shown
    (fed,) = [receipt for receipt in found if receipt.name == "fed"]
    of_fed = {way: KO[f"receipt_fed_{way}"].split("}")[1].split("{")[0] for way in ("for", "against")}
    assert [way for way, words in of_fed.items() if words in shown] == [
        "for" if fed.facts["nats"] > 0 else "against"
    ]
    app = open_circuit("receipts", network=planted_writer, receipts_as="picture")
    assert len(figure(app, "receipts")["data"][1]["text"]) == len(found) - 1  # its axis is in nats


@pytest.mark.parametrize("view", ["without", "receipts"])
def test_where_nothing_is_changed_there_is_nothing_to_ask(open_app, correctors, planted, view):
    correctors["transformer"] = planted
    assert KO["without_none"] in told(open_app("laboratory", experiment=view, sentence="나다."))
