"""The main page, driven without a browser and with a corrector of a few lines."""

import base64
import json
import re
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from model import ModelFolderError
from model.trace import ATTENTION_KINDS
from tests.ui.conftest import entry
from tests.ui.fake_corrector import MAX_LENGTH, random_trace
from ui import address, examples, loaders, reading
from ui.texts import table

KO, EN = table("ko"), table("en")


def figure(app) -> dict:
    """The heatmap, which is the last figure of the page: the overview and the heads of a change stand before it."""
    return json.loads(app.get("plotly_chart")[-1].proto.spec)


def numbers(app) -> np.ndarray:
    """The heatmap's values as they travel to the browser."""
    z = figure(app)["data"][0]["z"]
    rows, columns = map(int, z["shape"].split(","))
    return np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"]).reshape(rows, columns)


def html(app) -> str:
    return "\n".join(element.proto.body for element in app.html)


def marked(app) -> list[tuple[str, str]]:
    """(tag, text) of each mark, first those of the corrected text."""
    return re.findall(r"<(ins|del) [^>]*>(.*?)</", html(app))


def messages(app) -> list[str]:
    return [
        element.value for name in ("info", "warning", "error", "success") for element in getattr(app, name)
    ]


def marked_examples(app) -> list[str]:
    buttons = {example.id: app.button(key=f"example_{example.id}") for example in examples.load()}
    return [name for name, button in buttons.items() if button.proto.type == "primary"]


def test_opens_in_korean_on_a_corrected_example(open_app):
    app = open_app()
    assert not app.exception
    assert app.title[0].value == KO["attention_title"]
    assert marked_examples(app) == [examples.load()[0].id]
    assert app.get("plotly_chart")


def test_correction_is_marked_and_escaped(open_app):
    app = open_app(sentence="고갱 <img src=x onerror=alert(1)> **굵게**")
    assert marked(app) == [("ins", "객"), ("del", "갱")]
    assert "</ins> &lt;img src=x" in html(app)
    assert "<img" not in html(app)
    assert not [element for element in app.markdown if "굵게" in element.value]


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
@pytest.mark.parametrize("head", ["mean", "2"])
def test_figure_shows_the_numbers_of_the_trace(open_app, kind, head):
    app = open_app(sentence="고갱이 왔다", kind=kind, layer="2", head=head)
    trace = random_trace("고갱이 왔다", "고객이 왔다")
    expected = reading.attention_of(trace, kind, 1, None if head == "mean" else 1)
    np.testing.assert_array_equal(numbers(app), expected)


def test_controls_change_the_figure_and_the_setting(open_app):
    app = open_app(sentence="고갱이 왔다")
    app.segmented_control(key="control_kind").set_value("decoder_attention").run()
    app.segmented_control(key="control_layer").set_value("2").run()
    app.segmented_control(key="control_head").set_value("3").run()
    trace = random_trace("고갱이 왔다", "고객이 왔다")
    np.testing.assert_array_equal(numbers(app), trace.decoder_attention[1, 2])
    view = app.session_state["view"]
    assert (view["kind"], view["layer"], view["head"]) == ("decoder_attention", "2", "3")


def test_settings_that_make_no_sense_fall_back(open_app):
    app = open_app(kind="<script>", layer="99", head="-1", part="7", lang="xx", sentence="고갱")
    assert not app.exception
    assert app.title[0].value == KO["attention_title"]
    trace = random_trace("고갱", "고객")
    np.testing.assert_array_equal(numbers(app), reading.attention_of(trace, "cross_attention", 0, None))


def test_language_changes_everything_but_the_state(open_app):
    app = open_app(sentence="고갱이 왔다", kind="encoder_attention", head="2")
    before = numbers(app)
    app.segmented_control(key="control_lang").set_value("en").run()
    assert app.title[0].value == EN["attention_title"]
    np.testing.assert_array_equal(numbers(app), before)
    assert app.session_state["view"]["sentence"] == "고갱이 왔다"


def test_state_survives_a_visit_to_another_page(open_app):
    app = open_app(sentence="고갱이 왔다", layer="2", lang="en")
    before = numbers(app)
    app.switch_page("ui/pages/positions.py").run()
    assert app.title[0].value == EN["positions_title"]
    app.switch_page("ui/pages/attention.py").run()
    np.testing.assert_array_equal(numbers(app), before)


def test_picking_an_example_replaces_the_sentence(open_app):
    app = open_app(sentence="고갱")
    assert marked_examples(app) == []
    app.button(key="example_spacing").click().run()
    assert marked_examples(app) == ["spacing"]
    assert app.session_state["view"]["sentence"] == "우리는할 수있는 만큼만 천천 히 해보기로 했다."
    assert app.session_state["live_text_revision"] == 1


def test_several_sentences_let_one_be_chosen_and_open_on_the_first_that_changed(open_app):
    app = open_app(sentence="비가 왔다. 고갱이 왔다. 또 고갱이 간다.")
    assert app.selectbox(key="control_part").value == "2"
    assert numbers(app).shape == (len("고객이 왔다.") + 1,) * 2
    app.selectbox(key="control_part").set_value("3").run()
    assert numbers(app).shape == (len("또 고객이 간다.") + 1,) * 2
    assert app.session_state["view"]["part"] == "3"


def test_one_sentence_asks_nothing(open_app):
    assert [box.key for box in open_app(sentence="고갱이 왔다.").selectbox] == ["control_model"]


@pytest.mark.parametrize("text", ["", "   \n\t "])
def test_nothing_typed(open_app, text):
    app = open_app(sentence=text)
    assert messages(app) == [KO["empty"]]
    assert not app.get("plotly_chart")


def test_too_long_a_sentence_is_told_with_both_lengths_and_kept(open_app):
    text = "가" * (MAX_LENGTH + 3)
    app = open_app(sentence=text)
    told = KO["too_long"].format(number=1, length=MAX_LENGTH + 3, limit=MAX_LENGTH)
    assert sorted(messages(app)) == sorted([told, KO["too_long_to_show"].format(limit=MAX_LENGTH)])
    assert text in html(app)
    assert not app.get("plotly_chart")


def test_too_much_text_is_told_and_kept(open_app):
    text = "고갱이 왔다. " * 300
    app = open_app(sentence=text)
    assert messages(app) == [KO["too_many_characters"].format(length=f"{len(text):,}", limit="2,000")]
    assert app.session_state["view"]["sentence"] == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("객이 왔다.", "nothing_found"),
        ("ㅋㅋㅋㅋ", "nothing_found"),
        ("Hello, world!", "no_hangul"),
        ("🙂🎉", "no_hangul"),
        ("123", "no_hangul"),
    ],
)
def test_nothing_to_correct_is_said(open_app, text, message):
    app = open_app(sentence=text, lang="en")
    assert messages(app) == [EN[message]]
    assert app.get("plotly_chart")


def test_decomposed_hangul_is_read_as_syllables(open_app):
    app = open_app(sentence=unicodedata.normalize("NFD", "고갱이 왔다"))
    assert ("ins", "객") in marked(app)
    assert KO["composed"] in html(app)


def test_a_damaged_model_folder_is_a_message(open_app, monkeypatch):
    def damaged(path):
        raise ModelFolderError("weights.npz is cut short")

    monkeypatch.setattr(loaders, "load_corrector", damaged)
    app = open_app()
    assert not app.exception
    assert messages(app) == [KO["model_folder_error"]]
    assert "weights.npz is cut short" in html(app)


def test_an_own_model_that_is_damaged_has_a_message_of_its_own(open_app, entries, monkeypatch):
    def damaged(path):
        raise ModelFolderError("config.json is missing")

    entries.append(entry(Path("runs/mine")))
    monkeypatch.setattr(loaders, "load_corrector", damaged)
    assert messages(open_app(model="runs/mine", lang="en")) == [EN["own_model_error"]]


def test_without_any_model_the_page_says_so(open_app, entries):
    entries.clear()
    app = open_app()
    assert not app.exception
    assert messages(app) == [KO["model_folder_error"]]


def test_the_default_sentence_and_settings_leave_the_address_empty(open_app):
    assert open_app().session_state["view"] == address.DEFAULTS
