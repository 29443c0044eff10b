"""The laboratory, driven without a browser, over a network whose heads were written by hand (``tests/planted.py``)."""

import numpy as np
import pytest

from engine.questions import QUESTIONS
from tests.planted import CAUSE, CODA, RIGHT, ROW, WRONG, planted_corrector
from tests.ui.screen import figure, figures, html, numbers, setting, told
from ui.texts import table
from ui.views import EXPERIMENTS

KO = table("ko")


@pytest.fixture(scope="module")
def planted():
    """It answers questions as a worker does, but in this process."""
    corrector = planted_corrector()
    corrector.ask = lambda kind, *arguments: QUESTIONS[kind](corrector, *arguments)
    return corrector


@pytest.fixture
def open_laboratory(open_app, correctors, planted):
    def open_at(experiment: str, **settings: str):
        correctors["transformer"] = planted
        app = open_app(
            page="laboratory", experiment=experiment, **{"sentence": WRONG, "edit": "1"} | settings
        )
        assert not app.exception
        return app

    return open_at


def test_every_experiment_is_a_tab_and_says_something(open_laboratory):
    for view in EXPERIMENTS:
        app = open_laboratory(view.name)
        tabs = app.segmented_control(key="control_experiment")
        assert tabs.options == [KO[f"view_{each.name}"] for each in EXPERIMENTS]
        assert told(app)
        assert len(figures(app)) >= 2, view.name


def test_other_weights_in_the_head_that_matters_undo_the_correction(open_laboratory):
    head = {"kind": CODA.kind, "layer": str(CODA.layer + 1), "head": str(CODA.head + 1)}
    app = open_laboratory("replace", instead="uniform", **head)
    np.testing.assert_allclose(numbers(app, "replace_instead"), 1 / 6, atol=1e-6)
    assert WRONG in html(app)
    app = open_laboratory("replace", instead="painted", painted=str(CAUSE + 1), **head)
    np.testing.assert_allclose(numbers(app, "replace_instead")[ROW], np.eye(6)[CAUSE])
    assert "replace_paint" not in told(app)


def test_a_painted_cell_is_a_setting_of_the_link(open_laboratory):
    app = open_laboratory("replace", instead="painted")
    assert told(app).find(KO["replace_paint"]) > 0  # nothing is painted yet
    assert setting(app, "painted") == ""


def test_the_road_not_taken_keeps_what_was_typed(open_laboratory):
    app = open_laboratory("fork")
    rows = figure(app, "fork")["data"][0]["text"]
    assert ["".join(row) for row in rows] == [f"{text}&lt;/s&gt;" for text in (RIGHT, WRONG)]
    assert WRONG in told(app)


def test_a_sentence_beside_the_one_it_becomes(open_laboratory):
    app = open_laboratory("twins", twin="typed", twin_difference="1")
    assert {"twins_first_map", "twins_difference_map", "twins_heads"} <= set(figures(app))
    own = open_laboratory("twins", twin="pair", twin_sentence=WRONG, twin_difference="1")
    assert not numbers(own, "twins_difference_map").any()
    assert KO["twins_reading_same"] in told(own)


def test_another_model_stands_beside_this_one(open_laboratory):
    app = open_laboratory("twins", twin="model", kind="encoder_attention", layer="2", head="2")
    assert "twins_second_map" in figures(app)
    assert "twins_heads" not in figures(app)  # the recurrent network has one map


def test_a_network_that_takes_no_interventions_says_so(open_app):
    for experiment in ("without", "sources", "replace", "fork"):
        app = open_app(page="laboratory", experiment=experiment, sentence="고갱이 왔다", model="seq2seq")
        assert not app.exception
        assert KO["lacks_interventions"] in html(app)


def test_where_nothing_was_corrected_it_says_so(open_laboratory):
    assert KO["without_none"] in told(open_laboratory("without", sentence=RIGHT, edit=""))
