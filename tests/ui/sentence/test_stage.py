"""Open view on the page: tabs, options, controls of a map, the note on log odds."""

from contextlib import nullcontext
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from model.trace.trace import Selection
from tests.ui.fake_corrector import FakeCorrector
from tests.ui.screen import component, figures, html, keys, open_popover, setting
from ui.sentence import stage
from ui.sentence.page import OpenSentence
from ui.sentence.state import SentenceState
from ui.views import VIEWS
from ui.wording import table

KO = table("ko")
SENTENCE = "고갱이 왔다"


def test_all_views_are_tabs_one_is_open_and_its_options_are_one_click_away(open_app):
    app = open_app(sentence=SENTENCE)
    tabs = app.segmented_control(key="control_view")
    assert tabs.options == [KO[f"view_{view.name}"] for view in VIEWS]
    assert tabs.value == "heatmap"
    assert "control_unit" not in keys(app)
    open_popover(app, "view_options")
    assert {"control_unit", "control_shown", "control_order"} <= keys(app)
    app.segmented_control(key="control_unit").set_value("word").run()
    assert setting(app, "unit") == "word"
    app.segmented_control(key="control_view").set_value("lines").run()
    assert "control_unit" not in keys(app)
    assert app.slider(key="control_mass").value == 60
    app.segmented_control(key="control_view").set_value("steps").run()
    assert setting(app, "view") == "steps"
    assert figures(app) == ["overview"]
    assert component(app, "steps")


def test_where_all_heads_are_shown_no_map_is_asked_for(open_app):
    app = open_app(sentence=SENTENCE, view="edits", kind="decoder_attention", layer="2", head="3")
    assert not keys(app) & {"control_kind", "control_layer", "control_head"}
    assert KO["view_of_all_heads"] in html(app)
    app.segmented_control(key="control_view").set_value("heatmap").run()
    assert app.segmented_control(key="control_kind").value == "decoder_attention"
    assert app.segmented_control(key="control_head").value == "3"


@pytest.mark.parametrize("head", [None, 0])
def test_the_controls_are_drawn_anew_only_where_a_head_gets_or_loses_its_button(head, monkeypatch):
    """Where ``for_the_controls`` is the same, a keystroke redraws the text and its pictures alone. A head of
    a text with a change has a button."""
    monkeypatch.setattr(stage, "may_switch_off", lambda state: bool(state.changes))
    corrector, heatmap = FakeCorrector(), next(view for view in VIEWS if view.name == "heatmap")

    def rest(text: str):
        (sentence,) = corrector.correct(text).sentences
        state = SentenceState(
            corrector, sentence, sentence.trace, Selection("cross_attention", 0, head), None, "light"
        )
        assert bool(state.changes) is (text == SENTENCE)
        return OpenSentence(corrector, heatmap, state).for_the_controls

    assert (rest(SENTENCE) == rest("고양이 왔다")) is (head is None)


@pytest.mark.parametrize(
    ("probabilities", "explained"), [((0.5,), False), ((), False), ((0.5, 0.9999), True)]
)
def test_log_odds_are_explained_where_a_view_has_some_whatever_was_typed(
    probabilities, explained, monkeypatch
):
    shown = []
    monkeypatch.setattr(
        stage, "markup", SimpleNamespace(told=Mock(), paragraph=lambda text, kind: shown.append(text))
    )
    view = Mock(message=None, describe=lambda: "‘>0.999 (’", probabilities=lambda: probabilities)
    stage.show_view(SimpleNamespace(told=nullcontext(), picture=nullcontext()), view)
    assert shown == [KO["steps_odds"]] * explained
