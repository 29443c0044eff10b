"""Slider of the minimum confidence: its values and link; the network is asked once."""

import pytest

from tests.ui.fake_corrector import OWN_CONFIDENCE
from tests.ui.screen import open_popover, setting, words
from ui.wording import table

KO = table("ko")
SENTENCE = "고갱이 왓다"
SURE, DOUBTFUL = ("고갱이", "고객이"), ("왓다", "왔다")


@pytest.fixture
def open_settings(open_app):
    return lambda **settings: open_popover(open_app(**{"sentence": SENTENCE} | settings), "settings")


def slider(app):
    return app.select_slider(key="control_confidence")


def test_from_the_models_own_value_lower_makes_more_changes_and_the_network_is_asked_once(
    open_settings, correctors
):
    app = open_settings()
    assert slider(app).value == OWN_CONFIDENCE
    assert KO["confidence_unchosen"].format(share="0.75") in slider(app).options
    assert setting(app, "confidence") == ""
    assert words(app) == [SURE]
    slider(app).set_value(0.4).run()
    assert words(app) == [SURE, DOUBTFUL]
    assert setting(app, "confidence") == "0.4"
    slider(app).set_value(1.0).run()
    assert words(app) == []
    slider(app).set_value(OWN_CONFIDENCE).run()
    assert setting(app, "confidence") == ""
    assert words(app) == [SURE]
    assert len(correctors["transformer"].asked) == 1


@pytest.mark.parametrize(
    ("asked", "stands"), [("0.4", 0.4), (".40", 0.4), ("0.43", 0.43), ("1", 1.0), ("0", 0.0)]
)
def test_a_link_sets_it(open_settings, asked, stands):
    assert slider(open_settings(confidence=asked)).value == stands


def test_what_is_no_share_falls_back_to_the_models_own(open_settings):
    for asked in ("-1", "1.05", "nan"):
        assert slider(open_settings(confidence=asked)).value == OWN_CONFIDENCE


def test_an_own_value_between_two_steps_has_its_own_place_and_another_model_its_own(
    open_settings, correctors
):
    correctors["transformer"].minimum_confidence = 0.83
    correctors["seq2seq"].minimum_confidence = 0.3
    app = open_settings()
    assert slider(app).value == 0.83 and len(slider(app).options) == 22
    app.selectbox(key="control_model").set_value("seq2seq").run()
    assert slider(app).value == 0.3 and DOUBTFUL in words(app)
