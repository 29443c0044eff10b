"""Experiment *teach it*: a visitor's pairs, learned or refused, and outcomes.

Over the planted network, whose feed-forward networks learn nothing.
"""

from dataclasses import replace

import pytest

from model.analysis.edit_effects import EditedText, EditOutcome, HeadChange
from model.analysis.model_editing import MOST_PAIRS, Pair
from model.trace.interventions import Head
from tests.planted import RIGHT, WRONG
from tests.ui.screen import figure, html, setting, told
from tests.ui.view_script import state
from ui.views import teach
from ui.wording import table

KO = table("ko")


def warnings(app) -> list[str]:
    return [each.value.replace("\u2060", "").replace("\\", "") for each in app.warning]


def test_what_is_written_becomes_pairs_and_nothing_of_it_is_lost(open_laboratory):
    app = open_laboratory("teach", taught="")
    assert KO["teach_none"] in told(app) and len(app.text_input) == 2
    app = app.text_input(key="teach_wrong_0").set_value("나다").run()
    assert setting(app, "taught") == "나다→" and KO["teach_none"] in told(app)
    app = app.text_input(key="teach_wanted_0").set_value("나라").run()
    assert setting(app, "taught") == "나다→나라" and len(app.text_input) == 4
    app = app.text_input(key="teach_wrong_1").set_value(WRONG).run()
    app = app.text_input(key="teach_wanted_1").set_value(RIGHT).run()
    assert setting(app, "taught") == f"나다→나라\n{WRONG}→{RIGHT}"
    assert warnings(app) == [KO["teach_refused_right"].format(wrong=WRONG, wanted=RIGHT)]
    assert [app.text_input(key=f"teach_{side}_0").value for side in ("wrong", "wanted")] == ["나다", "나라"]
    assert KO["teach_before"].format(text="나다") in html(app)


@pytest.mark.parametrize(
    ("pair", "reason"),
    [("나다→나다", "same"), ("나다→나다가라머어요나다가", "far"), ("나다→나힣", "unknown")],
)
def test_a_pair_that_cannot_be_taught_is_explained(open_laboratory, pair, reason):
    wrong, wanted = pair.split("→")
    expected = KO[f"teach_refused_{reason}"].format(wrong=wrong, wanted=wanted, characters="힣")
    assert warnings(open_laboratory("teach", taught=pair)) == [expected]


def test_unlearned_taught_again_and_cleared(open_laboratory):
    app = open_laboratory("teach", taught="나다→나라")
    rows = figure(app, "teach")["layout"]["yaxis"]["ticktext"]
    assert rows[-1].startswith("가르친 문장 1개") or rows[0].startswith("가르친 문장 1개")
    app = app.button(key="teach_unlearn").click().run()
    assert setting(app, "taught_strength") == "0"
    assert app.button(key="teach_unlearn").label == KO["teach_again"]
    assert KO["teach_unlearned"] in html(app)
    app = app.button(key="teach_unlearn").click().run()
    assert setting(app, "taught_strength") == "100"
    app = app.button(key="teach_clear").click().run()
    assert setting(app, "taught") == "" and app.button(key="teach_clear").disabled


@pytest.mark.parametrize("text", ["", "→", "→\n→", "가", "가→나→다", "가→나\n" * 20, "<b>→</b>", "가" * 5000])
def test_pairs_of_any_address(settings, text):
    settings["taught"] = text
    found = teach._pairs()
    assert len(found) <= MOST_PAIRS and all(any(pair) for pair in found)
    assert all(len(side) <= teach.LONGEST for pair in found for side in pair)


def test_an_outcome_is_told_in_counts(settings):
    right, wrong = (EditedText(Pair("금새", "금세"), "금새", after) for after in ("금세", "금새"))
    spoiled = EditedText(Pair("가다", "가다"), "가다", "가가")
    found = EditOutcome(
        size=0.0123,
        pairs=(right,),
        refused=(),
        elsewhere=(right, wrong, right),
        others=(spoiled,),
        num_others=10,
        others_right=9,
        heads=(HeadChange(Head("cross_attention", 1, 0), 0.25),),
    )
    shown = teach.Teach(state("cross_attention", 0, 0))
    shown.outcome = found
    said = shown.reading()
    assert "1문장 가운데 1문장" in said and "3개 가운데 2개" in said and "1.2%" in said
    assert KO["teach_reading_nowhere"] not in said
    again = replace(found, behind=(right, wrong), elsewhere=())
    shown.outcome = again
    said = shown.reading()
    assert "붙이면 2개 가운데 1개" in said and KO["teach_reading_nowhere"] in said
    shown.outcome = found
    assert shown.paragraphs() == [f"금새 → 금세: {KO['teach_mended']}"]
    (figure, _) = shown.figures["teach"]
    ((component, _),) = shown.parts()  # the picture on the phones of a class
    assert component == "plot"
    before, after = (each["x"] for each in figure["data"][1:3])
    assert list(before) == pytest.approx([0, 0, 90]) and list(after) == pytest.approx([100, 200 / 3, 80])
