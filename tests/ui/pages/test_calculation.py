"""The classroom example gives its known results, and whatever is typed into it stays."""

import numpy as np
import pytest

from tests.ui.screen import figures, numbers
from tests.ui.screen import html as texts
from ui.wording import table


@pytest.mark.parametrize(
    ("button", "weights", "output"),
    [
        ("second", [[0, 1, 0, 0]], [[10, 0]]),
        ("twins", [[0, 0, 0.5, 0.5]], [[550, 5.5]]),
        ("two", [[0.5, 0.5, 0, 0]], [[5.5, 0]]),
        (
            "all",
            [[0, 1, 0, 0], [0, 0, 0.5, 0.5], [0.5, 0.5, 0, 0]],
            [[10, 0], [550, 5.5], [5.5, 0]],
        ),
    ],
)
def test_the_known_queries_have_their_known_results(open_app, button, weights, output):
    app = open_app("calculation", q="1,2,3")
    app.button_group(key="control_known_query").set_value(button).run()
    np.testing.assert_allclose(numbers(app, "step_softmax"), weights, atol=1e-6)
    np.testing.assert_allclose(numbers(app, "step_output"), output, atol=1e-5)


def test_the_page_opens_on_the_example_and_says_what_happens(open_app):
    app = open_app("calculation")
    assert not app.exception
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
        ({"k": "1,0,0;0,,1"}, "missing", {"table": "K", "row": 2, "column": 2}),
        ({"v": ""}, "empty", {"table": "V"}),
        ({"q": "1,2"}, "widths", {"query": 2, "key": 3}),
        ({"v": "1;2"}, "rows", {"keys": 4, "values": 2}),
        (
            {"q": "1e9,0,0"},
            "huge",
            {"table": "Q", "row": 1, "column": 1, "found": "1e9", "largest": "100,000"},
        ),
    ],
)
def test_bad_input_is_named_and_stays(open_app, settings, key, values):
    app = open_app("calculation", **settings)
    assert not app.exception
    assert [w.value for w in app.warning] == [table("ko")[f"calculation_problem_{key}"].format(**values)]
    for name, text in settings.items():
        assert app.text_input(key=f"line_{name}").value == text


def test_typed_signs_are_no_markdown_in_the_message(open_app):
    (warning,) = open_app("calculation", q="**x**,1,2").warning
    assert "**x**" not in warning.value


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
    app = open_app("calculation", sentence=sentence)
    assert not app.exception
    assert numbers(app, "step_output").shape == (1, 2)
