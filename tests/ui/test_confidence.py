"""The minimum confidence: what it leaves undone, and that the network is asked only once."""

from dataclasses import replace

import pytest

from model.changes import find_changes
from tests.ui.fake_corrector import DOUBTFUL, OWN_CONFIDENCE, SURE, propose
from tests.ui.test_attention_page import html, marked, messages
from ui import confidence
from ui.texts import table

KO = table("ko")
SENTENCE = "고갱이 왓다"


def say(key: str, /, **values) -> str:
    return KO[key].format(**values)


def slider(app):
    return app.select_slider(key="control_confidence")


def test_it_stands_at_the_models_own_value_and_says_so(open_app):
    app = open_app(sentence=SENTENCE)
    assert slider(app).value == OWN_CONFIDENCE
    assert KO["confidence_unchosen"].format(share="0.75") in slider(app).options
    assert app.session_state["view"]["confidence"] == ""
    assert marked(app) == [("ins", "객"), ("del", "갱")]


def test_lower_makes_more_changes_and_higher_fewer_without_asking_the_network_again(open_app, correctors):
    app = open_app(sentence=SENTENCE)
    slider(app).set_value(0.4).run()
    assert marked(app) == [("ins", "객"), ("ins", "왔"), ("del", "갱"), ("del", "왓")]
    assert app.session_state["view"]["confidence"] == "0.4"
    slider(app).set_value(1.0).run()
    assert marked(app) == []
    slider(app).set_value(OWN_CONFIDENCE).run()
    assert app.session_state["view"]["confidence"] == ""
    assert marked(app) == [("ins", "객"), ("del", "갱")]
    assert correctors["transformer"].runs == 1


@pytest.mark.parametrize(("asked", "stands"), [("0.4", 0.4), (".40", 0.4), ("1", 1.0), ("0", 0.0)])
def test_a_link_sets_it(open_app, asked, stands):
    assert slider(open_app(confidence=asked)).value == stands


@pytest.mark.parametrize("asked", ["-1", "1.05", "0.43", "nan", "1e-3", "٠.٤", "<b>", "0." + "4" * 400])
def test_what_is_no_place_of_the_slider_falls_back_to_the_models_own(open_app, asked):
    app = open_app(confidence=asked)
    assert not app.exception
    assert slider(app).value == OWN_CONFIDENCE


def test_an_own_value_between_two_steps_has_its_own_place(open_app, correctors):
    correctors["transformer"].minimum_confidence = 0.83
    app = open_app(sentence=SENTENCE)
    assert slider(app).value == 0.83
    assert len(slider(app).options) == 22


def test_another_model_starts_at_its_own_value(open_app, correctors):
    correctors["seq2seq"].minimum_confidence = 0.3
    app = open_app(sentence=SENTENCE)
    app.selectbox(key="control_model").set_value("seq2seq").run()
    assert slider(app).value == 0.3
    assert ("ins", "왔") in marked(app)


def test_what_was_left_undone_is_listed_and_escaped(open_app):
    app = open_app(sentence=SENTENCE)
    assert "‘왓’→‘왔’ 0.42" in html(app)
    app = open_app(sentence="왓다")
    assert messages(app) == []  # something to correct was seen, so the page does not say there was nothing


def test_each_mark_tells_both_probabilities(open_app):
    app = open_app(sentence=SENTENCE)
    note = KO["probabilities"].format(fix="0.97", keep="0.01")
    assert html(app).count(f'title="{note}"') == 2


def test_left_undone_is_what_was_proposed_and_not_made_the_surest_first():
    proposed = propose("왓 갱 왓")
    made = [change for change in proposed if change.wrong == SURE[0]]
    assert [change.wrong for change in confidence.left_undone(proposed, made)] == [DOUBTFUL[0]] * 2
    assert [c.wrong for c in confidence.left_undone(proposed, [])] == [SURE[0], DOUBTFUL[0], DOUBTFUL[0]]


def test_a_confidence_just_below_the_minimum_does_not_read_as_the_minimum():
    (change,) = find_changes("왓다", "왔다")
    undone = [replace(change, fix_probability=0.7483, keep_probability=0.0)]
    assert "0.748" in confidence.describe(say, undone, 0.75)
    assert "0.75" not in confidence.describe(say, undone, 0.75)


def test_two_changes_that_are_almost_certain_differ():
    (change,) = find_changes("왓다", "왔다")
    notes = {
        confidence.probabilities(say, replace(change, fix_probability=p, keep_probability=0.0))
        for p in (0.996, 0.999)
    }
    assert len(notes) == 2
    assert not any("1.00" in note for note in notes)


def test_at_most_five_are_named_and_the_rest_counted():
    text = confidence.describe(say, propose("왓 " * 7))
    assert text.count("→") == 5
    assert text.endswith(KO["considered_more"].format(count=2))


@pytest.mark.parametrize(
    ("source", "target", "words"),
    [("할수", "할 수", "‘␣’ 넣기 0.25"), ("천천 히", "천천히", "‘␣’ 빼기 0.25")],
)
def test_insertions_and_deletions_are_named(source, target, words):
    (change,) = find_changes(source, target)
    undone = [replace(change, fix_probability=0.5, keep_probability=0.5)]
    assert words in confidence.describe(say, undone)
