"""View *step by step*: the data of the player, its first step, its description."""

import base64
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.text.changes import find_changes
from model.trace.trace import Selection
from tests.planted import RIGHT, ROW, WRONG
from tests.ui.fake_corrector import HEADS, propose, random_trace
from tests.ui.screen import component, components, figures, send, setting, told
from tests.ui.view_script import open_view
from ui.views.steps import choice, hesitation
from ui.wording import table
from viz.browser.steps import WEIGHT_UNIT, produced_place, steps_data
from viz.labels import probability

SOURCE, TARGET = "고갱이 왓다", "고객이 왔다"
CHANGES = propose(SOURCE)


def say(key: str, /, **values: object) -> str:
    return table("ko")[key].format(**values)


def data_of(trace, changes=CHANGES, **options) -> dict:
    selection = options.pop("selection", Selection("cross_attention"))
    options = {"weights": partial(selection.weights, trace), "place": "2층", "step": 1} | options
    return steps_data(say, trace, changes, **options)


def weights(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<u2") / WEIGHT_UNIT


def with_row(trace, row: int, probability: float, alternatives: tuple[str, ...], shares: tuple[float, ...]):
    """``trace`` whose ``row`` gave these probabilities, the first to the token it produced."""
    logarithms, numbers = trace.log_probabilities.copy(), trace.alternative_probabilities.copy()
    logarithms[row], numbers[row] = np.log(probability), shares
    named = (*trace.alternatives[:row], alternatives, *trace.alternatives[row + 1 :])
    return replace(trace, log_probabilities=logarithms, alternatives=named, alternative_probabilities=numbers)


@pytest.mark.parametrize(("layer", "head"), [(None, None), (1, None), (None, 2), (0, HEADS - 1)])
def test_the_weights_of_both_attentions_arrive(layer, head):
    trace = random_trace(SOURCE, TARGET)
    # With any kind open elsewhere, both of the decoder's are shown.
    data = data_of(trace, selection=Selection("encoder_attention", layer, head))
    cross = Selection("cross_attention", layer, head).weights(trace)
    own = Selection("decoder_attention", layer, head).weights(trace)
    np.testing.assert_allclose(weights(data["cross"]).reshape(cross.shape), cross, atol=0.5 / WEIGHT_UNIT)
    unpacked = np.zeros_like(own)
    unpacked[np.tril_indices(len(own))] = weights(data["self"])
    np.testing.assert_allclose(unpacked, own, atol=0.5 / WEIGHT_UNIT)


def test_another_candidate_leads_to_the_road_not_taken_and_one_that_does_not_exist_nowhere(
    open_app, correctors, planted
):
    correctors["transformer"] = planted
    app = open_app(view="steps", sentence=WRONG)
    for nothing in ([99, 0], [0, 0], [1, 99], [1, -2], ["1", 0], [1], "1", None):
        assert "steps" in components(send(app, "steps", "parted", nothing))
    data = component(app, "steps")
    assert data["may_part"]
    place = 1 - data["produced"][ROW]
    app = send(app, "steps", "parted", [ROW + 1, place])
    assert figures(app)[-3:] == ["fork", "fork_map_observed", "fork_map_other"]
    assert setting(app, "fork_step") == str(ROW + 1)
    assert setting(app, "fork_token") == planted.trace(WRONG, RIGHT).alternatives[ROW][place]
    app = send(open_app(view="steps", sentence=WRONG), "steps", "parted", [ROW + 1, -1])
    assert (setting(app, "fork_token"), setting(app, "experiment")) == ("", "fork")
    assert WRONG in told(app)  # the typed text is kept


def test_a_probability_is_rounded_once():
    """0.0065016 is 0.007 to three digits; cut to 0.0065 on its way, the page would make 0.006 of it."""
    trace = with_row(random_trace(SOURCE, TARGET), 0, 0.0065016, ("나", "고"), (0.5, 0.0065016))
    data = data_of(trace)
    for sent in (data["probabilities"][0], data["alternative_probabilities"][0][1]):
        assert probability(sent) == probability(0.0065016) == "0.007"


def test_changes_carry_their_rows_and_both_probabilities_and_a_deletion_the_row_that_follows():
    first, second = data_of(random_trace(SOURCE, TARGET))["changes"]
    assert (first["start"], first["end"], first["fix"], first["keep"]) == (1, 2, 0.97, 0.01)
    assert (second["start"], second["source_start"]) == (4, 4)
    assert first["label"] == "‘갱’→‘객’"
    (deletion,) = data_of(random_trace("가 나", "가나"), find_changes("가 나", "가나"))["changes"]
    assert (deletion["start"], deletion["stop"], deletion["end"]) == (1, 1, 2)
    assert deletion["label"] == "‘␣’ 빼기"


def test_what_was_produced_is_found_among_the_alternatives():
    trace = random_trace(SOURCE, TARGET)
    assert produced_place(trace, 0) == 0
    assert produced_place(with_row(trace, 0, 0.2, ("나", "다"), (0.5, 0.3)), 0) == -1
    assert produced_place(with_row(trace, 0, 0.3, ("나", "고"), (0.5, 0.3)), 0) == 1
    trace = random_trace("🙂", "🙂")  # outside the vocabulary: known by its probability
    assert produced_place(with_row(trace, 0, 0.9, ("<outside>", "다"), (0.9, 0.1)), 0) == 0
    assert produced_place(with_row(trace, 0, 0.01, ("<outside>", "다"), (0.9, 0.1)), 0) == -1


def test_the_reading_of_a_sentence_names_its_least_sure_step_and_what_is_certain_without_signs():
    sure = random_trace(SOURCE, TARGET)
    said = hesitation(with_row(sure, 4, 0.4, ("왓", "왔"), (0.55, 0.4)))
    assert all(each in said for each in ("5단계", "‘왔’ 자에 준 확률이 0.400", "‘왓’ 자 0.550"))
    assert "거의 망설이지 않았습니다" in hesitation(sure)
    said = choice(with_row(sure, 1, 0.9999, ("객", "갱"), (0.9999, 0.0001)), 1)
    assert "확률이 0.999를 넘고(로그 오즈 +9.2), 다른 후보는 모두 0.001 미만입니다" in said
    assert ">" not in said and "<" not in said


def shown(source=SOURCE, **settings: str) -> AppTest:
    return open_view("steps", source, source.replace("갱", "객").replace("왓", "왔"), **settings)


def sent(app) -> dict:
    """The data that travels to the player."""
    return component(app, "steps")


@pytest.mark.parametrize(
    ("edit", "step", "expected"),
    [("2", "", 5), ("2", "4", 4), ("", "99", 2)],
)
def test_the_player_begins_where_the_link_says_else_at_the_change(edit, step, expected):
    assert sent(shown(edit=edit, step=step))["step"] == expected


def test_a_step_of_the_link_does_not_hold_for_another_change():
    app = shown(edit="1", step="6")
    assert sent(app.run())["step"] == 6
    app.session_state["view"]["edit"] = "2"
    assert sent(app.run())["step"] == 5
    assert app.session_state["view"]["step"] == ""
    assert sent(shown("그대로"))["step"] == 1  # without changes
