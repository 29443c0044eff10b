"""Experiment *switch heads off* on planted heads: squares, tiles and the verdict."""

import json
import re
from itertools import product

import numpy as np
import pytest

from model.analysis.head_effects import head_effects
from model.survey.results import HeadSurvey
from model.survey.survey import Survey, SurveyPlan
from model.survey.survey_files import result
from model.trace.trace import ATTENTION_KINDS
from tests.planted import CODA, DECOY, EDIT, RIGHT, WRONG
from tests.ui.screen import chosen, figure, figures, html, numbers, open_popover, send, setting, told
from ui.asking import loaders
from ui.wording import head_name, short_head_name, table

KO = table("ko")


def test_a_head_can_be_replaced_by_its_mean_instead_of_nothing(open_laboratory, planted, monkeypatch):
    monkeypatch.setattr(loaders, "head_survey", lambda path, corrector: None)
    (nothing,) = set(figure_text(open_laboratory("without", off="zero")))
    app = open_laboratory("without", off="mean")
    assert figure_text(app) == [nothing]  # the means are unknown
    app = open_popover(app, "explanation")
    assert KO["without_no_means"] in html(app)
    survey = Survey(planted, SurveyPlan(((WRONG, RIGHT),), effects=1, pruning=0))
    list(survey.run())
    monkeypatch.setattr(loaders, "head_survey", lambda path, corrector: HeadSurvey(result(survey)))
    app = open_laboratory("without", off="mean")
    expected = head_effects(planted, EDIT, HeadSurvey(result(survey)).means)
    shown = numbers(app, "without_mosaic", 2)
    np.testing.assert_allclose(shown, expected.grid("cross_attention"), atol=1e-5)
    assert figure_text(app) != [nothing]
    assert KO["without_means"].format(sentences=1) in html(open_popover(app, "explanation"))


def verdict(app) -> list[str]:
    """The two sides of the verdict: the heads switched off, the text, and whether it is corrected."""
    label = r'<p class="label">([^<]*)</p><p class="written"'
    patterns = (label, r'<p class="written" lang="ko">([^<]*)<', r"<strong>([^<]*)<")
    return [said for pattern in patterns for said in re.findall(pattern, html(app))]


ON = KO["without_all_heads"]


def test_squares_switch_heads_off_together_and_the_verdict_follows(open_laboratory, planted):
    app = open_laboratory("without", switched_off="none")
    assert app.button(key="without_all_on").disabled
    assert verdict(app) == [ON, RIGHT, KO["without_made"]]  # no head is off: one side
    app = send(app, "without_mosaic", "click", {"custom": list(CODA)})
    assert setting(app, "switched_off") == "cross_attention.2.2"
    coda = KO["without_heads"].format(heads=head_name(CODA))
    assert verdict(app) == [ON, coda, RIGHT, WRONG, KO["without_made"], KO["without_undone"]]
    app = send(app, "without_mosaic", "click", {"custom": list(DECOY)})
    both = KO["without_heads"].format(heads=", ".join(map(short_head_name, sorted((CODA, DECOY)))))
    assert verdict(app)[1:4:2] == [both, WRONG]
    app = send(app, "without_mosaic", "click", {"custom": list(CODA)})  # on again
    assert verdict(app)[1:4:2] == [KO["without_heads"].format(heads=head_name(DECOY)), RIGHT]
    app = send(app, "without_mosaic", "click", {"custom": list(DECOY)})
    assert setting(app, "switched_off") == "none"


def test_at_first_the_helpful_are_off_and_a_click_on_one_keeps_the_others(open_laboratory, planted):
    """Heads that speak against the change stay on: they would hide the effect of the others."""
    app = open_laboratory("without")
    effects = head_effects(planted, EDIT)
    helpful = effects.supporters(5)
    assert all(effects.effect[effects.heads.index(head)] < 0 for head in helpful)
    named = say_off(helpful)
    assert verdict(app)[1] == named
    app = send(app, "without_mosaic", "click", {"custom": list(helpful[-1])})
    left = ",".join(f"{kind}.{layer + 1}.{head + 1}" for kind, layer, head in helpful[:-1])
    assert setting(app, "switched_off") == (left or "none")
    app = send(app, "without_mosaic", "click", {"custom": list(DECOY)})
    app = app.button(key="without_all_on").click().run()
    assert setting(app, "switched_off") == "none"
    app = app.button(key="without_strongest").click().run()
    assert setting(app, "switched_off") == ""
    assert verdict(app)[1] == named


def say_off(heads) -> str:
    if len(heads) > 4:
        return KO["without_all"].format(count=len(heads))
    named = head_name if len(heads) == 1 else short_head_name
    return KO["without_heads"].format(heads=", ".join(map(named, sorted(heads))))


def test_the_headline_follows_what_is_off(open_laboratory):
    told_after = set()
    for off, what in (("none", "on"), ("cross_attention.1.2", "made"), ("cross_attention.2.2", "undone")):
        app = open_laboratory("without", switched_off=off)
        beginning, _ = KO[f"without_reading_{what}"].split("{before}")
        assert beginning.format(change="머→먹") in told(app), off
        told_after.add(told(app))
    assert len(told_after) == 3  # the probability depends on the heads switched off


def test_a_link_may_name_any_heads(open_laboratory):
    some = "cross_attention.2.2,cross_attention.9.9,none.1.1,cross_attention.0.1,<b>"
    app = open_laboratory("without", switched_off=some)
    assert verdict(app)[1:4:2] == [KO["without_heads"].format(heads=head_name(CODA)), WRONG]
    every = ",".join(f"{kind}.{layer}.{head}" for kind, layer, head in product(ATTENTION_KINDS, "12", "12"))
    app = open_laboratory("without", switched_off=every)
    assert KO["without_all"].format(count=12) in html(app)
    send(app, "without_mosaic", "click", {"custom": ["cross_attention", 9, 9]})


def figure_text(app) -> list[str]:
    return [json.dumps(trace.get("z")) for trace in figure(app, "without_mosaic")["data"]][2:3]


def test_a_tile_beside_a_view_without_a_map_opens_the_head(open_app, open_laboratory):
    for app in (open_laboratory("without"), open_app(sentence="고갱이 왔다", view="edits")):
        send(app, "overview", "click", {"custom": [1, 0]})
        assert chosen(app, "view", "kind", "layer", "head") == ("heatmap", "cross_attention", "2", "1")
        assert figures(app) == ["overview", "heatmap"]


@pytest.mark.parametrize("view", ["heatmap", "edits", "predict"])
def test_from_a_head_one_press_asks_what_becomes_without_it_and_another_opens_it(
    open_app, correctors, planted, view
):
    correctors["transformer"] = planted
    of_view = {"edit": "1", "view": view, "marks": "2", "revealed": "1", "layer": "2"}
    app = open_app(sentence=WRONG, **of_view, head="2")
    labels = KO["head_off"], KO["head_off_question"]
    next(button for button in app.button if button.label in labels).click().run()
    assert setting(app, "switched_off").startswith("cross_attention.2.2" if view == "heatmap" else "cross_")
    assert figures(app)[1:] == ["without_mosaic", "without_scatter"]
    app = open_app(sentence=WRONG, **of_view, head="mean")
    if view == "heatmap":  # a mean cannot be switched off
        assert "head_off" not in [button.key for button in app.button]
        return
    next(button for button in app.button if "_open" in button.key).click().run()
    assert figures(app) == ["overview", "heatmap"]
