"""When it was decided, on the page, over a network of which it is known what writes where."""

from functools import partial
from html import escape

import numpy as np
import pytest

from model.analysis.residual_stream import JAMO, logit_lens
from model.text.changes import find_changes
from tests.planted import CODA, LAYERS, RIGHT, ROW, WRONG
from tests.ui.screen import decode, figure, html, numbers, open_popover, send, setting, told
from ui.wording import table
from viz.labels import probability

KO = table("ko")


@pytest.fixture
def open_decided(open_planted):
    return partial(open_planted, "decided")


@pytest.fixture
def decided(planted_writer):
    return logit_lens(planted_writer, WRONG, RIGHT, find_changes(WRONG, RIGHT))


def test_the_grid_has_a_row_for_each_sublayer_and_ends_with_the_answer(open_decided, decided):
    app = open_decided()
    cells = figure(app, "decided_grid")["data"][0]
    assert len(cells["text"]) == 3 * LAYERS + 1
    assert cells["text"][-1] == [*RIGHT, "&lt;/s&gt;"]
    np.testing.assert_allclose(numbers(app, "decided_grid"), decided.probabilities[..., 0], atol=1e-5)
    assert KO["decided_place_cross"].format(layer=CODA.layer + 1) in told(app) and "‘머’" in told(app)


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
    app = send(open_decided(), "decided_grid", "click", {"x": ROW + 1, "y": 3})
    assert (setting(app, "decided_as"), setting(app, "sources_step")) == ("curve", str(ROW + 1))
    line = figure(app, "decided_curve")["data"][0]
    np.testing.assert_allclose(decode(line["y"]), decided.scores[:, decided.changes[0]], atol=1e-4)


@pytest.mark.parametrize("point", [{}, {"x": 99, "y": 0}, {"x": "1", "y": None}])
def test_what_a_browser_may_send_besides_changes_nothing(open_decided, point):
    app = send(open_decided(), "decided_grid", "click", point)
    assert setting(app, "decided_as") == "grid" and not app.exception


def test_each_side_and_each_part_of_the_syllable_has_a_grid_of_jamo(open_decided, decided):
    for side, places, tokens in (("decoder", 3 * LAYERS + 1, RIGHT), ("encoder", 2 * LAYERS + 1, WRONG)):
        for part in JAMO:
            app = open_decided(decided_as="jamo", decided_side=side, decided_part=part)
            cells = figure(app, "decided_jamo")["data"][0]
            assert (len(cells["text"]), len(cells["text"][0])) == (places, len(tokens) + 1)
            assert cells["text"][0][-2:] == ["", ""]  # the full stop and the end mark are no syllables
    app = open_decided(decided_as="jamo")
    assert figure(app, "decided_jamo")["data"][0]["text"][-1][ROW] == "ㄱ"


def test_it_says_what_a_lens_cannot_say(open_decided):
    for settings in ({}, {"decided_as": "curve"}, {"decided_as": "jamo", "decided_side": "encoder"}):
        app = open_popover(open_decided(**settings), "explanation")
        assert KO["decided_limits"] in html(app)
    assert KO["decided_jamo_encoder"] in html(app)


def test_a_network_without_a_residual_stream_says_so(open_app):
    assert KO["lacks_residual"] in told(open_app(view="decided", sentence="고갱이 왔다"))
