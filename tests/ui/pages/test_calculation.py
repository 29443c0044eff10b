"""The classroom example gives its known results, and whatever is typed into it stays.

A typed table of numbers is read, mended and written back without losing what was typed.

The calculation of one query gives the weights that the network used, and says by how little it is off.
"""

import numpy as np
import pytest

from tests.ui import fake_corrector
from tests.ui.computing_corrector import ComputingCorrector, computed_trace
from tests.ui.fake_corrector import one_map_trace
from tests.ui.screen import figure, figures, numbers
from tests.ui.screen import html as texts
from ui.parts.number_table import LARGEST, NumberTable, Problem
from ui.wording import table


@pytest.mark.parametrize(
    ("button", "weights", "output"),
    [
        ("second", [[0, 1, 0, 0]], [[10, 0]]),
        ("twins", [[0, 0, 0.5, 0.5]], [[550, 5.5]]),
        ("two", [[0.5, 0.5, 0, 0]], [[5.5, 0]]),
        ("all", [[0, 1, 0, 0], [0, 0, 0.5, 0.5], [0.5, 0.5, 0, 0]], [[10, 0], [550, 5.5], [5.5, 0]]),
    ],
)
def test_the_known_queries_have_their_known_results(open_app, button, weights, output):
    app = open_app("calculation", q="1,2,3")
    app.button_group(key="control_known_query").set_value(button).run()
    np.testing.assert_allclose(numbers(app, "step_softmax"), weights, atol=1e-6)
    np.testing.assert_allclose(numbers(app, "step_output"), output, atol=1e-5)


def test_the_page_opens_on_the_example_and_says_what_happens(open_app):
    app = open_app("calculation")
    np.testing.assert_array_equal(numbers(app, "step_product"), [[0, 100, 0, 0]])
    np.testing.assert_allclose(numbers(app, "step_scaled"), [[0, 100 / np.sqrt(3), 0, 0]], rtol=1e-6)
    said = table("ko")["calculation_reading_one"]
    assert said.format(query=1, keys="2", product="100", output="10, 0") in texts(app)


def test_equal_keys_share_and_small_numbers_mix(open_app):
    said = table("en")["calculation_reading_equal"]
    said = said.format(query=1, keys="3, 4", product="100", weight="0.5", output="550, 5.5")
    assert said in texts(open_app("calculation", lang="en", q="0,0,10"))
    app = open_app("calculation", lang="en", q="0.1,0.2,0.3")
    assert "weight 0.35" in texts(app)
    assert numbers(app, "step_softmax").sum() == pytest.approx(1)


def test_without_scaling_the_division_is_gone_and_one_key_takes_more(open_app):
    scaled = open_app("calculation", q="0.1,0.2,0.3")
    plain = open_app("calculation", q="0.1,0.2,0.3", unscaled="1")
    assert numbers(plain, "step_softmax").max() > numbers(scaled, "step_softmax").max()
    assert "step_scaled" in figures(scaled)
    assert "step_scaled" not in figures(plain)


@pytest.mark.parametrize(
    ("settings", "key", "values"),
    [
        ({"q": "0,둘,0"}, "not_number", {"table": "Q", "row": 1, "column": 2, "found": "둘"}),
        ({"v": ""}, "empty", {"table": "V"}),
        ({"q": "1,2"}, "widths", {"query": 2, "key": 3}),
        ({"v": "1;2"}, "rows", {"keys": 4, "values": 2}),
    ],
)
def test_bad_input_is_named_and_stays(open_app, settings, key, values):
    app = open_app("calculation", **settings)
    assert [w.value for w in app.warning] == [table("ko")[f"calculation_problem_{key}"].format(**values)]
    for name, text in settings.items():
        assert app.text_input(key=f"line_{name}").value == text


def test_typed_signs_are_no_markdown_and_the_largest_number_is_told(open_app):
    for typed, is_told in (("**x**,1,2", False), ("1e9,0,0", True)):
        (warning,) = open_app("calculation", q=typed).warning
        assert "**x**" not in warning.value and ("100,000" in warning.value) == is_told


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


@pytest.mark.parametrize("sentence", ["", "  ", "가" * 3000])
def test_without_a_sentence_to_show_the_example_is_still_there(open_app, sentence):
    assert numbers(open_app("calculation", sentence=sentence), "step_output").shape == (1, 2)


@pytest.mark.parametrize("text", ["0,10,0", "1,0;10,0;100,5;1000,6", "-.5,1e3", "가,;<b>,2"])
def test_a_table_survives_the_address(text):
    assert NumberTable.parse(text).text == text


def test_rows_may_also_end_at_a_lines_end():
    np.testing.assert_array_equal(NumberTable.parse(" 1, 2\n3 ,4;").numbers(), [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", Problem("empty")),
        (" ; \n", Problem("empty")),
        ("1,2;3,", Problem("missing", 2, 2)),
        ("1,둘", Problem("not_number", 1, 2, "둘")),
        ("nan", Problem("not_number", 1, 1, "nan")),
        ("1_0", Problem("not_number", 1, 1, "1_0")),
        ("١", Problem("not_number", 1, 1, "١")),
        (f"0,{LARGEST * 10}", Problem("huge", 1, 2, str(LARGEST * 10))),
        ("1e999", Problem("huge", 1, 1, "1e999")),
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
        ("1.50,둘;3,4", {}, "1.50,둘;3,4"),
        ("1.50,둘;3,4;5,6", {"edited_rows": {0: {"1": 2.5}, 2: {"2": None}}}, "2.5,둘;3,4;5,"),
        ("1.50,둘;3,4;5,6", {"deleted_rows": [1]}, "1.50,둘;5,6"),
        ("1,2", {"added_rows": [{"1": 7, "2": -0.1}, {}]}, "1,2;7,-0.1;,"),
        ("1,2,3;4", {"edited_rows": {1: {"3": 9}}}, "1,2,3;4,,9"),  # beyond a short row
        ("", {"added_rows": [{"1": 3}]}, "3"),
    ],
)
def test_edits_change_the_touched_cells_alone(table, edits, text):
    assert NumberTable.parse(table).edited(edits).text == text


def test_the_editor_gets_numbers_and_empty_cells():
    frame = NumberTable.parse("1,x;2").frame()
    assert list(frame.columns) == ["1", "2"]
    assert frame["1"].tolist() == [1.0, 2.0]
    assert frame["2"].isna().all()
    assert list(NumberTable.parse("").frame().columns) == ["1"]


SENTENCE, CORRECTED = "갱관적으로", "객관적으로"


@pytest.fixture
def open_numbers(open_app, correctors):
    correctors["transformer"] = ComputingCorrector()
    return lambda **settings: open_app("calculation", sentence=SENTENCE, **settings)


@pytest.mark.parametrize("kind", ["encoder_attention", "decoder_attention", "cross_attention"])
def test_the_weights_are_those_of_the_trace(open_numbers, kind):
    app = open_numbers(kind=kind, layer="2", head="3", cell="2,0")
    expected = computed_trace(SENTENCE, CORRECTED).attention(kind)[1, 2, 2]
    np.testing.assert_allclose(numbers(app, "numbers_scores", trace=1)[:, 0], expected, atol=1e-6)


def test_masked_scores_are_minus_infinity_and_hatched(open_numbers):
    app = open_numbers(kind="decoder_attention", layer="1", head="1", cell="1,0")
    spec = figure(app, "numbers_scores")
    assert [row[2] for row in spec["data"][0]["text"]] == [*spec_column(spec, 2)[:2], *["−∞"] * 4]
    assert "−∞" not in spec_column(spec, 1)
    assert spec["data"][2]["fillpattern"]["shape"] == "/"


def spec_column(spec: dict, column: int) -> list[str]:
    return [row[column] for row in spec["data"][0]["text"]]


def test_the_last_row_is_the_sum_of_the_weighted_values(open_numbers):
    rows = numbers(open_numbers(layer="1", head="2"), "numbers_sum")
    np.testing.assert_allclose(rows[-1], rows[:-2].sum(0), atol=1e-5)
    assert np.isnan(rows[-2]).all()


def test_the_first_changed_row_is_offered_and_another_can_be_chosen(open_numbers):
    app = open_numbers(layer="1", head="1")
    chooser = app.selectbox(key="control_numbers_query")
    assert chooser.value == 0
    chooser.set_value(3).run()
    assert app.selectbox(key="control_numbers_query").value == 3
    expected = computed_trace(SENTENCE, CORRECTED).cross_attention[0, 0, 3]
    np.testing.assert_allclose(numbers(app, "numbers_scores", trace=1)[:, 0], expected, atol=1e-6)


def test_where_a_mean_was_chosen_the_first_head_is_shown_and_lit(open_numbers):
    app = open_numbers(layer="2", head="mean", lang="en")
    head = app.segmented_control(key="control_head")
    assert head.value == "1" and table("en")["head_mean"] not in head.options
    expected = computed_trace(SENTENCE, CORRECTED).cross_attention[1, 0, 0]
    np.testing.assert_allclose(numbers(app, "numbers_scores", trace=1)[:, 0], expected, atol=1e-6)


def test_the_difference_to_the_network_is_said(open_numbers, correctors):
    def difference(app) -> float:
        words = texts(app).split(table("en")["numbers_difference"].split("{")[0])[1]
        return float(words.split("</p>")[0].rstrip("."))

    assert difference(open_numbers(lang="en", layer="1", head="1")) < 1e-6
    # A trace that does not follow from the projections is found out.
    correctors["transformer"] = type(correctors["seq2seq"])("unrelated")
    assert difference(open_numbers(lang="en", layer="1", head="1")) > 0.01


@pytest.mark.parametrize("cell", ["99,0", "x,1", "3", ","])
def test_a_strange_cell_in_a_link_falls_back(open_numbers, cell):
    assert open_numbers(cell=cell).selectbox(key="control_numbers_query").value == 0


def test_a_recurrent_network_has_one_attention(open_app):
    app = open_app("calculation", sentence=SENTENCE, model="seq2seq")
    assert one_map_trace(SENTENCE, CORRECTED).cross_attention.shape[-1] == len(
        numbers(app, "numbers_scores", trace=1)
    )


def test_of_a_long_sentence_the_heaviest_keys_are_shown(open_app, correctors, monkeypatch):
    correctors["transformer"] = ComputingCorrector()
    monkeypatch.setattr(fake_corrector, "MAX_LENGTH", 200)
    app = open_app("calculation", sentence="갱" + "가나다라 " * 20, layer="1", head="1")
    assert numbers(app, "numbers_vectors").shape[0] == 40 + 2
    shown = numbers(app, "numbers_scores", trace=1)[:, 0]
    assert len(shown) == 40
    assert f"{1 - shown.sum():.3f}" in texts(app)
