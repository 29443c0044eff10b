"""Page of the attention calculation: typed numbers, then one query of the sentence."""

import numpy as np
import pytest

from model.trace.trace import ATTENTION_KINDS
from tests.ui import fake_corrector
from tests.ui.computing_corrector import ComputingCorrector, computed_trace
from tests.ui.screen import component, figure, figures, numbers
from tests.ui.screen import html as texts
from ui.parts.number_table import LARGEST, NumberTable, Problem
from ui.wording import plain_markdown, table

KO, EN = table("ko"), table("en")
PLAIN = plain_markdown("**x**")


def test_the_example_and_the_known_queries_have_their_known_results_and_say_them(open_app):
    app = open_app("calculation")
    np.testing.assert_array_equal(numbers(app, "step_product"), [[0, 100, 0, 0]])
    np.testing.assert_allclose(numbers(app, "step_scaled"), [[0, 100 / np.sqrt(3), 0, 0]], rtol=1e-6)
    one = {"keys": "2", "product": "100", "output": "10, 0"}
    assert KO["calculation_reading_one"].format(query=1, **one) in texts(app)
    equal = {"keys": "3, 4", "product": "100", "weight": "0.5", "output": "550, 5.5"}
    for button, weights, output, line in (
        ("twins", [[0, 0, 0.5, 0.5]], [[550, 5.5]], 1),
        ("second", [[0, 1, 0, 0]], [[10, 0]], None),
        ("two", [[0.5, 0.5, 0, 0]], [[5.5, 0]], None),
        ("all", [[0, 1, 0, 0], [0, 0, 0.5, 0.5], [0.5, 0.5, 0, 0]], [[10, 0], [550, 5.5], [5.5, 0]], 2),
    ):
        app.button_group(key="control_known_query").set_value(button).run()
        np.testing.assert_allclose(numbers(app, "step_softmax"), weights, atol=1e-6)
        np.testing.assert_allclose(numbers(app, "step_output"), output, atol=1e-5)
        assert not line or KO["calculation_reading_equal"].format(query=line, **equal) in texts(app)


def test_small_numbers_mix_and_without_the_division_one_key_takes_more(open_app):
    app = open_app("calculation", lang="en", q="0.1,0.2,0.3")
    assert component(app, "step_softmax")["answers"] is False  # to no click
    scaled = numbers(app, "step_softmax")
    assert "weight 0.35" in texts(app) and scaled.sum() == pytest.approx(1)
    assert "step_scaled" in figures(app)
    app.toggle(key="control_unscaled").set_value(True).run()
    assert numbers(app, "step_softmax").max() > scaled.max() and "step_scaled" not in figures(app)


@pytest.mark.parametrize(
    ("settings", "key", "values"),
    [
        ({"v": "**x**"}, "not_number", {"table": "V", "row": 1, "column": 1, "found": PLAIN}),
        ({"v": ""}, "empty", {"table": "V"}),
        ({"q": "1,2"}, "widths", {"query": 2, "key": 3}),
        ({"v": "1;2"}, "rows", {"keys": 4, "values": 2}),
    ],
)
def test_bad_input_is_named_and_stays(open_app, settings, key, values):
    app = open_app("calculation", **settings)
    assert [w.value for w in app.warning] == [KO[f"calculation_problem_{key}"].format(**values)]
    for name, text in settings.items():
        assert app.text_input(key=f"line_{name}").value == text


def test_without_a_sentence_to_show_the_example_is_still_there(open_app):
    for sentence in ("  ", "가" * 3000):
        assert numbers(open_app("calculation", sentence=sentence), "step_output").shape == (1, 2)


def test_a_line_of_text_changes_the_tables_and_the_way_back_is_offered(open_app):
    app = open_app("calculation", q="1,2")
    app.text_input(key="line_k").set_value("1,0;0,1").run()
    app.text_input(key="line_v").set_value("3;4").run()
    assert not app.warning
    assert app.data_editor[1].value.to_numpy().tolist() == [[1, 0], [0, 1]]
    assert numbers(app, "step_output").shape == (1, 1)
    app.button(key="calculation_reset").click().run()
    np.testing.assert_allclose(numbers(app, "step_output"), [[10, 0]], atol=1e-6)
    assert not [button for button in app.button if button.key == "calculation_reset"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", Problem("empty")),
        ("1,2;3,", Problem("missing", 2, 2)),
        ("1,둘", Problem("not_number", 1, 2, "둘")),
        ("١", Problem("not_number", 1, 1, "١")),
        (f"0,{LARGEST * 10}", Problem("huge", 1, 2, str(LARGEST * 10))),
        ("1,2;3", Problem("unequal", 2, 1, "2")),
        (";".join("1" * 9), Problem("many_rows", row=9)),
        (",".join("1" * 7), Problem("many_columns", column=7)),
    ],
)
def test_what_cannot_be_computed_with_is_named(text, problem):
    table = NumberTable.parse(text)
    assert table.problem() == problem
    table.frame()  # and can still be shown
    with pytest.raises(ValueError, match=problem.kind):
        table.numbers()


@pytest.mark.parametrize(
    ("table", "edits", "text"),
    [
        ("-.5,1e3;가,;<b>,2", {}, "-.5,1e3;가,;<b>,2"),
        (" 1, 2\n3 ,4;", {}, "1,2;3,4"),  # rows may also end with their line
        ("1.50,둘;3,4;5,6", {"edited_rows": {0: {"1": 2.5}, 2: {"2": None}}}, "2.5,둘;3,4;5,"),
        ("1.50,둘;3,4;5,6", {"deleted_rows": [1]}, "1.50,둘;5,6"),
        ("1,2", {"added_rows": [{"1": 7, "2": -0.1}, {}]}, "1,2;7,-0.1;,"),
        ("1,2,3;4", {"edited_rows": {1: {"3": 9}}}, "1,2,3;4,,9"),  # beyond a short row
        ("", {"added_rows": [{"1": 3}]}, "3"),
    ],
)
def test_edits_change_the_touched_cells_alone(table, edits, text):
    assert NumberTable.parse(table).edited(edits).text == text


SENTENCE, CORRECTED = "갱관적으로", "객관적으로"


@pytest.fixture
def open_numbers(open_app, correctors):
    correctors["transformer"] = ComputingCorrector()
    return lambda **settings: open_app("calculation", **{"sentence": SENTENCE, "lang": "en"} | settings)


def weights(app) -> np.ndarray:
    """(K,) of the chosen row."""
    return numbers(app, "numbers_scores", trace=1)[:, 0]


@pytest.mark.parametrize("kind", ATTENTION_KINDS[1:])
def test_weights_are_those_of_the_trace_and_the_last_row_is_the_sum_of_the_values(open_numbers, kind):
    app = open_numbers(kind=kind, layer="2", head="3", cell="2,0")
    expected = computed_trace(SENTENCE, CORRECTED).attention(kind)[1, 2, 2]
    np.testing.assert_allclose(weights(app), expected, atol=1e-6)
    rows = numbers(app, "numbers_sum")
    np.testing.assert_allclose(rows[-1], rows[:-2].sum(0), atol=1e-5)
    assert np.isnan(rows[-2]).all()
    spec = figure(app, "numbers_scores")
    masked = [[each == "−∞" for each in row] for row in spec["data"][0]["text"]]
    later = [kind == "decoder_attention" and key > 2 for key in range(6)]
    assert [row[2] for row in masked] == later and not any(row[1] for row in masked)
    assert not any(later) or spec["data"][2]["fillpattern"]["shape"] == "/"


def test_the_difference_to_the_network_is_said(open_numbers, correctors):
    def difference(app) -> float:
        words = texts(app).split(EN["numbers_difference"].split("{")[0])[1]
        return float(words.split("</p>")[0].rstrip("."))

    assert difference(open_numbers(layer="1", head="1")) < 1e-6
    # A trace that does not follow from the projections shows a difference.
    correctors["transformer"] = correctors["seq2seq"]
    app = open_numbers()
    assert difference(app) > 0.01 and len(weights(app)) == len(SENTENCE) + 1  # its one attention


def test_of_a_long_sentence_the_heaviest_keys_are_shown(open_numbers, monkeypatch):
    monkeypatch.setattr(fake_corrector, "MAX_LENGTH", 200)
    app = open_numbers(sentence="갱" + "가나다라 " * 20, layer="1", head="1")
    assert numbers(app, "numbers_vectors").shape[0] == 40 + 2
    assert len(weights(app)) == 40 and f"{1 - weights(app).sum():.3f}" in texts(app)
