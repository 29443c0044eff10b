"""Attention, logit attribution and occlusion of a change: equal in every view."""

from copy import copy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from engine import questions
from engine.question import Edit
from model.analysis.claims import RESTORED, SCORE
from model.analysis.contributions import CROSS, REFERENCE, Named, ThreeNumbers, head_that_matters
from model.analysis.counterfactuals import can_write
from model.analysis.edits import attention_of_change
from model.trace.interventions import Head
from model.trace.trace import Selection
from tests.conftest import asked_here
from tests.planted import RIGHT, WRONG
from tests.ui.screen import ask, chosen, figure, html, keys, setting
from ui.sentence.state import SentenceState
from ui.sentence.three_numbers import OPENED, measured, why
from ui.views import (
    attention_score,
    edits,
    fork,
    heads_off,
    heatmap,
    lines,
    logit_attribution,
    numbers,
    patching,
    predict,
    sources,
    steps,
)
from ui.views import replace as replacement
from ui.wording import nats, table
from viz.labels import visible_token

KO = table("ko")


@pytest.fixture(scope="module")
def asking(shipped):
    """The shipped network in this process. The last round, of many passes along a path, is not known."""
    corrector = asked_here(copy(shipped))
    may_know = lambda arguments: arguments[-1] < len(questions.ROUNDS) - 1
    corrector.known = lambda question, *asked: corrector.ask(question, *asked) if may_know(asked) else None
    return corrector


def state_of(asking, text: str, asked: int = 0) -> SentenceState:
    """A sentence with its first change in focus; ``asked``: the number of the character in question."""
    (sentence,) = asking.correct(text).sentences
    change = replace(sentence.changes[0], asked=asked)
    return SentenceState(asking, sentence, sentence.trace, Selection(CROSS), change, "light")


@pytest.mark.parametrize(("text", "asked"), [("역활을 맡았다.", 0), ("비를 맞으며 거러가요.", 1)])
def test_every_view_answers_the_same_question_with_the_same_numbers(asking, settings, text, asked):
    state = state_of(asking, text, asked)
    found = measured(state)
    tokens = state.trace.source_tokens
    looked, wrote = (visible_token(tokens[each.key]) for each in (found.looked, found.wrote))
    head = Selection(CROSS, found.head.layer, found.head.head)

    told = heatmap.Heatmap(replace(state, selection=head), SHOWN).reading()
    assert f"{found.looked.amount:.3f}" in told and looked.replace("␣", "빈칸") in told

    told = logit_attribution.Attribution(state, {"wrote_as": "map"}).reading()
    assert nats(found.wrote.amount) in told and f"‘{wrote}’" in told

    row, methods, _ = sources.Sources(state, {})._answers
    left_out = methods[REFERENCE].source[:-1]
    assert (int(np.abs(left_out).argmax()), row) == (found.mattered.key, state.asked_row)
    assert left_out[found.mattered.key] == pytest.approx(found.mattered.amount)

    effects = heads_off.HeadsOff(state, {"off": "zero"}).effects
    assert effects.grid(CROSS).min() == pytest.approx(effects.grid(CROSS)[found.head.layer, found.head.head])


@pytest.mark.parametrize(("sign", "side"), [(1, "without_helps"), (-1, "without_hinders")])
def test_the_head_with_the_largest_effect_is_told_with_the_side_that_it_helps(
    asking, settings, monkeypatch, sign, side
):
    state = state_of(asking, "어제 친구랑 가치 영화를 봤는데.")
    effects = heads_off.HeadsOff(state, {"off": "zero"}).effects
    assert effects.strongest(1) == effects.supporters(1)
    turned = replace(effects, without=effects.observed + sign * effects.effect)
    monkeypatch.setattr(heads_off.HeadsOff, "effects", turned)
    assert f"({KO[side]})" in heads_off.HeadsOff(state, {"off": "zero"})._observed()


OUTSIDE = "생각읃 해 봤다."  # a syllable that the vocabulary lacks
SENTENCES = ("비를 맞으며 거러가요.", "할수 있다.", "오랫만에 왔어요.", OUTSIDE)


def test_questions_are_the_same_ones_in_every_view(asking, settings):
    """Those about the other characters of a change, too."""
    asked = 0
    for text in SENTENCES:
        (sentence,) = asking.correct(text).sentences
        for number in range(len(sentence.changes[0].questions) if sentence.changes else 0):
            state = state_of(asking, text, number)
            effects = heads_off.HeadsOff(state, {"off": "zero"}).effects
            found = logit_attribution.Attribution(state, {}).found
            lens = state.ask(questions.logit_lens, *state.texts, state.edits)
            number = logit_attribution.number_of(state, found)
            assert effects.contrast == found.questions[number] == lens.questions[number], text
            assert effects.contrast.row == fork.Fork(state, {}).row == state.asked_row, text
            assert effects.observed == pytest.approx(found.score[number], abs=1e-3), text
            instead = effects.contrast.instead_token
            candidate = fork.Fork(state, {}).candidates[0]
            assert candidate == instead or (text, instead) == (OUTSIDE, "<outside>"), text
            assert can_write(asking, candidate), text
            before, _ = heads_off.HeadsOff(state, {"off": "zero"}).verdicts
            assert before.probability == pytest.approx(effects.observed_fix, abs=1e-5), text
            patched = patching.Patching(state, PATCHED).found
            assert patched is None or patched.score == pytest.approx(effects.observed, abs=1e-3), text
            written = f"‘{visible_token(state.trace.target_tokens[state.asked_row])}’"
            for told in (view(state, {}).reading() for view in (edits.Edits, predict.Predict, lines.Lines)):
                assert written.replace("␣", "") in told.replace("␣", "").replace("빈칸", ""), (text, told)
            looks = attention_of_change(state.trace, state.explained)
            np.testing.assert_array_equal(looks, state.trace.attention(CROSS)[:, :, effects.contrast.row])
            row = effects.contrast.row
            assert written.strip("‘’␣") in heatmap.Heatmap(state, SHOWN).reading(), text
            assert (steps.first_step(state) - 1, numbers.Numbers(state, {}).row) == (row, row), text
            assert attention_score._cell_of(state)[0] == row == sources.Sources(state, {})._answers[0]
            opened = replacement.Replace(state, {})
            contrast, (kept, *_) = opened.contrast, opened.versions
            assert contrast == effects.contrast, text
            assert kept.written_probability == pytest.approx(effects.observed_fix, abs=1e-5), text
            if asked == 0:
                check_slow_views(state, effects)
            asked += 1
    assert asked > len(SENTENCES)


def check_slow_views(state, effects):
    circuit = state.ask(questions.circuit, state.edit, 90, "mean")
    explanation = state.ask(questions.verified_explanation, state.edit)
    assert circuit.contrast == explanation.contrast == effects.contrast
    assert circuit.score == pytest.approx(effects.observed, abs=1e-3)
    assert explanation.score == pytest.approx(effects.observed, abs=1e-3)
    scores = [claim for claim in explanation.claims if claim.measured == SCORE]
    assert scores and {each.before for each in scores if each.intervention != RESTORED} == {explanation.score}
    assert all(each.before < explanation.score for each in scores if each.intervention == RESTORED)


PATCHED = {"patch_side": "decoder", "patch_part": "output", "patch_twin": "right"}
OFF = dict.fromkeys(("unmarked", "fitted", "logarithmic"), False)
SHOWN = {"shown": "weights", "unit": "syllable"} | OFF


@pytest.mark.parametrize(
    ("wrote", "mattered", "relation"),
    [
        ((1, 4.5), (1, 3.0), "agree"),
        ((2, 4.5), (2, 3.0), "others"),
        ((2, 4.5), (3, 3.0), "passed_on"),
        ((2, 4.5), (0, -0.3), "against"),
    ],
)
def test_a_sentence_says_how_they_go_together(wrote, mattered, relation):
    found = ThreeNumbers(Head(CROSS, 0, 0), Named(1, 0.4), Named(*wrote), Named(*mattered), 0.1, 0.2)
    assert found.relation == relation


@pytest.mark.parametrize(("amount", "tells"), [(-1.9, True), (1.9, False)])
def test_a_minus_is_explained(amount, tells):
    state = SimpleNamespace(trace=SimpleNamespace(source_tokens=["가", "나"]))
    found = ThreeNumbers(Head(CROSS, 0, 0), Named(0, 0.4), Named(1, amount), Named(0, 2.0), 0.1, 0.2)
    assert (KO["three_minus"] in why(state, found)) == tells


def test_the_line_says_its_question_and_leads_to_each_view_and_tiles_tell_what_is_written_without_them(
    open_app, correctors, planted_circuit
):
    correctors["transformer"] = planted_circuit
    assert "three_wrote" not in keys(open_app(sentence=WRONG))  # no change is chosen
    app = open_app(sentence=WRONG, edit="1")
    assert f"{KO['three_wrote']} " in app.button(key="three_wrote").label
    assert 'class="note three"' in html(app)
    assert f'<p class="asked">{KO["asked_written"].format(token="먹")}</p>' in html(app)
    assert not [each for each in app.button if str(each.key).startswith("ask_")]  # it has no other question
    spec = figure(app, "overview")
    told = [text for text in spec["data"][1]["text"] if KO["overview_without"].split(":")[0] in text]
    squares = [each for each in spec["layout"]["shapes"] if "fillcolor" in each]
    assert len(told) == len(squares) == 2
    app.button(key="three_mattered").click().run()
    assert setting(app, "experiment") == "sources"


def test_a_pressed_word_opens_the_map_of_the_head_that_matters_and_a_link_does_not(
    open_app, correctors, planted_circuit
):
    correctors["transformer"] = planted_circuit
    app = open_app(sentence=WRONG, edit="1")
    assert setting(app, "head") == "mean"
    app = ask(open_app(sentence=WRONG), "choose", 0)
    (change,) = planted_circuit.correct(WRONG).changes
    edit = Edit(WRONG, RIGHT, (change.source_start, change.source_end))
    head = head_that_matters(planted_circuit.ask(questions.head_effects, edit, ()))
    opened = head.kind, str(head.layer + 1), str(head.head + 1)
    assert chosen(app, "kind", "layer", "head") == opened
    elsewhere = {"kind": CROSS, "layer": "1", "head": "1" if opened[1:] != ("1", "1") else "2"}
    app = ask(open_app(sentence=WRONG, **elsewhere), "choose", 0)  # a head that a link names stays
    assert chosen(app, "kind", "layer", "head") == tuple(elsewhere.values())
    app = open_app(sentence=WRONG, **elsewhere)
    app.session_state[OPENED] = elsewhere  # one that another word had opened gives way
    assert chosen(ask(app, "choose", 0), "kind", "layer", "head") == opened
