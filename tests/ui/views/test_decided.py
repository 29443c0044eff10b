"""Views of the logit lens and of direct logit attribution, over a planted network."""

from functools import partial
from html import escape

import numpy as np
import pytest

from model.analysis.residual_stream import direct_logit_attribution, logit_lens
from tests.planted import CAUSE, CHANGE, CODA, COPY, DECOY, LAYERS, RIGHT, ROW, WRONG
from tests.ui.screen import chosen, decode, figure, figures, html, numbers, open_popover, send, setting, told
from ui.wording import table
from viz.labels import probability

KO = table("ko")
HEAD = {"kind": CODA.kind, "layer": str(CODA.layer + 1), "head": str(CODA.head + 1)}


@pytest.fixture
def open_decided(open_planted):
    return partial(open_planted, "decided")


@pytest.fixture
def decided(planted_writer):
    return logit_lens(planted_writer, WRONG, RIGHT, [CHANGE])


def test_the_sublayer_that_decided_is_told_and_what_a_lens_cannot_say(open_decided):
    app = open_decided()
    assert KO["decided_place_cross"].format(layer=CODA.layer + 1) in told(app) and "‘머’" in told(app)
    app = open_popover(open_decided(decided_as="jamo", decided_side="encoder"), "explanation")
    assert KO["decided_limits"] in html(app)
    assert KO["decided_jamo_encoder"] in html(app)


def test_a_letter_that_the_network_did_not_choose_is_told_as_another_candidate(open_decided, planted_writer):
    """The change is rejected, so 머 stays in the text; the network still answers 먹."""
    kept = logit_lens(planted_writer, WRONG, WRONG)
    assert not kept.is_answer(ROW) and kept.is_answer(ROW + 1)
    app = open_decided(rejected="1", edit="", sources_step=str(ROW + 1))
    place = KO["decided_place_cross"].format(layer=CODA.layer + 1)
    facts = {"token": "머", "answer": "먹", "place": place, "before": "머"}
    facts["probability"] = escape(probability(float(kept.written[-1, ROW])))
    assert KO["decided_other"].format(**facts) in told(app)


def test_a_cell_opens_the_curve_of_its_character(open_decided, decided):
    app = open_decided()
    for point in ({}, {"x": 99, "y": 0}, {"x": "1", "y": None}):  # a browser may send anything
        assert setting(send(app, "decided_grid", "click", point), "decided_as") == "grid"
    app = send(app, "decided_grid", "click", {"x": ROW + 1, "y": 3})
    assert chosen(app, "decided_as", "sources_step") == ("curve", str(ROW + 1))
    line = figure(app, "decided_curve")["data"][0]
    np.testing.assert_allclose(decode(line["y"]), decided.scores[:, decided.changes[0]], atol=1e-4)


def test_each_side_has_a_grid_of_jamo(open_decided, decided):
    for side, places, tokens in (("decoder", 3 * LAYERS + 1, RIGHT), ("encoder", 2 * LAYERS + 1, WRONG)):
        app = open_decided(decided_as="jamo", decided_side=side)
        cells = figure(app, "decided_jamo")["data"][0]["text"]
        assert (len(cells), len(cells[0])) == (places, len(tokens) + 1)
        assert cells[0][-2:] == ["", ""]  # the full stop and the end mark are no syllables
        assert side == "encoder" or cells[-1][ROW] == "ㄱ"


@pytest.fixture
def open_wrote(open_planted):
    return partial(open_planted, "wrote")


@pytest.fixture
def written(planted_writer):
    return direct_logit_attribution(planted_writer, WRONG, RIGHT, [CHANGE])


def bars_of(app) -> dict[str, float]:
    bars = figure(app, "wrote")["data"][0]
    return dict(zip(bars["hovertext"], bars["x"], strict=True))


def test_the_largest_part_stands_first_or_all_in_the_order_of_the_network(open_wrote):
    copy, coda = (f"{KO['kind_cross_attention']} {each.layer + 1}·{each.head + 1}" for each in (COPY, CODA))
    app = open_wrote()
    assert next(iter(bars_of(app))) == coda
    assert coda in told(app) and "‘먹’" in told(app)
    nats = figure(app, "overview")["data"][0]  # of all heads
    attention = figure(open_wrote(view="heatmap"), "overview")["data"][0]
    assert nats["z"] != attention["z"] and nats["colorscale"] != attention["colorscale"]
    app = open_popover(app, "explanation")
    assert KO["wrote_given"] in html(app) and "e-0" in html(app)  # how exact it is
    found = list(bars_of(open_wrote(wrote_order="network")))
    assert found.index(copy) < found.index(coda) < found.index(KO["wrote_feed_forward"].format(layer=2))


def test_a_bar_opens_the_map_of_its_head_in_nats(open_wrote, written):
    app = open_wrote()
    for custom in (None, ["cross_attention", 9, 9], ["encoder_attention", 0, 0], "x"):  # none of them a head
        assert setting(send(app, "wrote", "click", {"custom": custom}), "wrote_as") == "parts"
    app = send(app, "wrote", "click", {"custom": list(CODA)})
    assert chosen(app, *HEAD, "wrote_as") == (*HEAD.values(), "map")
    shown = numbers(app, "wrote_map")
    np.testing.assert_allclose(shown, written.maps("cross_attention")[CODA.layer, CODA.head], atol=1e-5)
    assert np.abs(shown[ROW]).argmax() == CAUSE
    assert "‘거’" in told(app)


def test_a_mean_of_heads_is_a_sum_of_nats_and_the_encoders_write_nothing_themselves(open_wrote, written):
    app = open_wrote(wrote_as="map", layer="mean", head="mean")
    expected = written.maps("cross_attention").sum(axis=(0, 1))
    np.testing.assert_allclose(numbers(app, "wrote_map"), expected, atol=1e-4)
    assert KO["wrote_place_all"] in told(app)
    app = open_wrote(wrote_as="map", kind="encoder_attention")
    assert KO["wrote_encoder"] in told(app) and "wrote_map" not in figures(app)


def test_one_press_leads_from_where_a_head_looked_to_what_it_wrote_and_back(open_planted, written):
    app = open_popover(open_planted("heatmap", **HEAD), "view_options")
    app.button(key="other_look").click().run()
    assert chosen(app, *HEAD) == (*HEAD.values(),)
    expected = written.maps(CODA.kind)[CODA.layer, CODA.head]
    np.testing.assert_allclose(numbers(app, "wrote_map"), expected, atol=1e-5)
    app.button(key="other_look").click().run()
    assert setting(app, "view") == "heatmap" and "wrote_map" not in figures(app)
    for view, kind in (("heatmap", "encoder_attention"), ("wrote", CODA.kind)):  # no map left or reached
        app = open_popover(open_planted(view, kind=kind), "view_options")
        assert "other_look" not in [button.key for button in app.button]


def test_a_ring_is_where_each_row_looked_most(open_wrote, planted_writer):
    """So that a reader sees at a glance where looking and writing differ."""
    app = open_wrote(wrote_as="map", kind=DECOY.kind, layer=str(DECOY.layer + 1), head=str(DECOY.head + 1))
    (rings,) = [each for each in figure(app, "wrote_map")["data"] if each.get("name") == KO["wrote_ringed"]]
    looked = planted_writer.trace(WRONG, RIGHT).cross_attention[DECOY.layer, DECOY.head]
    assert rings["x"] == [key + 1 for key in looked.argmax(axis=1)]
    assert rings["y"] == list(range(1, len(looked) + 1))
    assert (numbers(app, "wrote_map") == 0).all()  # this head looks and writes nothing


def test_any_written_character_can_be_asked_about(open_wrote, written):
    app = open_wrote(sources_step="1")
    assert "1단계" in told(app) and "‘나’ 쪽에" in told(app)
    assert bars_of(app)[KO["wrote_sum"]] == pytest.approx(written.score[0], abs=1e-4)
