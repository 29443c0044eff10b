"""Quiz questions of the lesson plans, and right answers computed from the network."""

from dataclasses import replace

import numpy as np

from classroom.checks import FEW, MANY, NO, PLANS, WORDS, YES, Facts, alike, plan_of
from model.analysis.head_effects import HeadEffects
from model.text.changes import find_changes
from model.trace.interventions import Contrast
from model.trace.trace import AttentionTrace
from tests.ui.fake_corrector import random_trace

SOURCE, TARGET = "나머거요.", "나먹거요."
(CHANGE,) = find_changes(SOURCE, TARGET)
ROW = CHANGE.target_start


def trace(looks_at: int = 2) -> AttentionTrace:
    """Two layers of two heads; head 1·1 looks at one place in every row, the others everywhere alike."""
    found = random_trace(SOURCE, TARGET)
    s, t = len(found.source_tokens), len(found.target_tokens)
    cross = np.full((2, 2, t, s), 1 / s, np.float32)
    cross[0, 0] = 0
    cross[0, 0, :, looks_at] = 1
    decoder = np.tril(np.ones((2, 2, t, t), np.float32))
    return replace(
        found,
        encoder_attention=np.full((2, 2, s, s), 1 / s, np.float32),
        decoder_attention=decoder / decoder.sum(-1, keepdims=True),
        cross_attention=cross,
        log_probabilities=-np.arange(t, dtype=np.float32),
        alternatives=tuple((token, "갈", "각") for token in found.target_tokens),
        alternative_probabilities=np.tile(np.array([0.6, 0.2, 0.1], np.float32), (t, 1)),
    )


def facts(**others) -> Facts:
    found = trace()
    effect = np.zeros(12, np.float32)
    effect[[4, 9]] = -3, 1  # the fifth head is the strongest, one speaks against
    effects = HeadEffects(
        Contrast(ROW, 0, 1, "먹", "머"), found.heads, 0.0, 0.9, effect, np.full(12, 0.9), np.arange(12) / 12.0
    )
    given = {
        "effects": effects,
        "occlusion": np.array([0, 0.1, -2, 0.2, 0, 9], np.float32),  # the end mark does not count
        "alone": True,
        "together": False,
        "spread": True,
        "returns": False,
    }
    return Facts(found, (CHANGE,), CHANGE, (0, 0), **given | others)


def answers(plan: str, about: Facts) -> dict[str, str]:
    return {check.kind: check.options[check.right] for check in plan_of(plan, about)}


def test_each_plan_has_some_questions_of_which_one_option_is_right_and_the_page_knows_their_texts():
    found = [check for plan in PLANS for check in plan_of(plan, facts())]
    assert all(6 <= len(plan_of(plan, facts())) <= 8 for plan in PLANS)
    for check in found:
        assert len(set(check.options)) == len(check.options) >= 2, check.kind
        assert [check.is_right(place) for place in range(len(check.options))].count(True) == 1
    assert {option for check in found for option in check.options} >= WORDS


def test_the_answers_are_those_of_the_pass():
    assert answers("lesson-plan", facts()) == {
        "sum": "1",
        "changed": "1",
        "copied": MANY,
        "hidden": f"{TARGET[ROW]} ({ROW + 1})",  # the token of this row has not been read yet
        "second": "갈",
        "least_sure": ". (5)",
    }


def test_how_many_places_changed_has_fewer_and_more_to_choose_from():
    (changed,) = [check for check in plan_of("lesson-plan", facts()) if check.kind == "changed"]
    assert 0 < changed.right < len(changed.options) - 1


def test_the_answers_of_the_laboratory_are_those_of_the_intervention():
    fifth = facts().effects.heads[4]
    assert answers("lesson-plan-laboratory", facts()) == {
        "looker": NO,
        "alone": YES,
        "together": NO,
        "kind_needed": fifth.kind,
        "left_out": "거 (3)",
        "agrees": YES,
        "against": FEW,
    }


def test_a_second_candidate_that_was_never_likely_is_not_asked_for():
    found = trace()
    unlikely = found.alternative_probabilities * np.array([1, 0.04, 0.04], np.float32)
    asked = answers("lesson-plan", replace(facts(), trace=replace(found, alternative_probabilities=unlikely)))
    assert "second" not in asked and "second" in answers("lesson-plan", facts())


def test_sentences_are_alike_where_an_idea_has_the_same_answer():
    plan = "lesson-plan-laboratory"
    about = plan_of(plan, facts())
    other = np.array([0, 5, 0, 0, 0, 0], np.float32)  # another character, so the looker is no longer it
    assert alike(about, plan_of(plan, facts()))
    assert not alike(about, plan_of(plan, facts(alone=False)))
    assert not alike(about, plan_of(plan, facts(occlusion=other)))
    assert not alike(about, plan_of(plan, facts(occlusion=None)))  # fewer questions
    typed = replace(trace(), alternatives=tuple((token, "머", "각") for token in trace().target_tokens))
    first, second = (plan_of("lesson-plan", replace(facts(), trace=each)) for each in (trace(), typed))
    assert not alike(first, second)  # the second candidate is the typed text


def test_the_longest_lesson_asks_of_the_pass_and_of_what_was_changed():
    about = answers("lesson-plan-50", facts())
    assert list(about)[:4] == ["sum", "copied", "hidden", "second"]
    assert (about["spread"], about["returns"]) == (YES, NO)
    other = answers("lesson-plan-50", facts(spread=False, returns=True))
    assert (other["spread"], other["returns"]) == (NO, YES)


def test_what_the_network_cannot_be_asked_is_not_asked():
    assert (
        answers("lesson-plan-laboratory", facts(effects=None, occlusion=None, alone=None, together=None))
        == {}
    )
    assert list(answers("lesson-plan-50", facts(effects=None, spread=None, returns=None))) == [
        *("sum", "copied", "hidden", "second")
    ]
    poor = replace(facts(), trace=replace(trace(), log_probabilities=None))
    assert "least_sure" not in answers("lesson-plan", poor)
